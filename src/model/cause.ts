// The cause of an event, command or run: what led to it, as far back as we know.

/** Who made something: a device by itself, a person or client, a rule, an outside MQTT publish, the gateway. */
export type Maker = 'device' | 'user' | 'mqtt' | 'system' | `rule:${string}`;

/** One rule on the way to an effect, and what it ran upon. */
export interface PathStep {
  readonly rule: string;
  /** What started it, with its value: `virtual:a/switch=on`, `topic a/in={"x":1}`. A repeated value closes a loop. */
  readonly on: string;
  /** Ten seconds or more passed inside the run: the chain is reported, but not stopped as a loop. */
  readonly slow?: boolean;
}

/** The cause envelope. Root, depth and path come from our own records alone. */
export interface Cause {
  /** Id of the first event, command or occurrence of the chain. */
  readonly root: string;
  /** Id of the direct parent; null for a root. */
  readonly parent: string | null;
  /** Rules passed on the way. */
  readonly depth: number;
  readonly path: readonly PathStep[];
  /** What the root was. */
  readonly origin: {
    readonly kind: 'device' | 'user' | 'mqtt' | 'schedule' | 'startup' | 'webhook' | 'system';
    readonly ref?: string;
  };
  /** The nearest maker, not the root's. */
  readonly by: Maker;
  /** It contradicts what the command on this path was to bring about (a bounce, a late report). */
  readonly contradicts?: boolean;
}

const NOWHERE: readonly PathStep[] = Object.freeze([]);

/** A fresh chain that starts with `id`. */
export const rootCause = (id: string, origin: Cause['origin'], by: Maker): Cause => ({
  root: id,
  parent: null,
  depth: 0,
  path: NOWHERE,
  origin,
  by,
});

/** Gives causes that were read from texts the same parts where they are equal, as causes have that were made here. */
export function sharedParts(): (cause: Cause) => Cause {
  const origins = new Map<string, Cause['origin']>();
  return cause => {
    const key = JSON.stringify(cause.origin);
    const origin = origins.get(key) ?? cause.origin;
    origins.set(key, origin);
    return { ...cause, path: cause.path.length === 0 ? NOWHERE : cause.path, origin };
  };
}

/** The cause of what `rule` does after it ran upon `on`, itself caused by `cause` of the thing `parent`. */
export const causedByRule = (cause: Cause, parent: string, rule: string, on: string): Cause => ({
  root: cause.root,
  parent,
  depth: cause.depth + 1,
  path: [...cause.path.slice(-63), { rule, on }],
  origin: cause.origin,
  by: `rule:${rule}`,
});

/** The same chain one link on, without a rule between. */
export const causedBy = (cause: Cause, parent: string, by: Maker = cause.by): Cause => ({ ...cause, parent, by });
