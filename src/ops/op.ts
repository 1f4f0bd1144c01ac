// An operation: defined once as data; MCP tools, REST routes, CLI verbs and the docs come from the table of them.
import type { Observable } from 'rxjs';
import type { z } from 'zod';
import type { Maker } from '../model/cause.ts';
import type { Scope } from '../policy/roles.ts';

export type { Scope } from '../policy/roles.ts';

/** What an operation may do; views keep the four apart so that clients can permit them apart. */
export type OpEffect = 'read' | 'write' | 'destructive' | 'admin';

/** Who calls, and through what. */
export interface Caller {
  /** Name of the principal; `local` on an open loopback gateway. */
  readonly principal: string;
  readonly scopes: ReadonlySet<Scope>;
  /** What let him in; see `Principals.isCurrent`. */
  readonly credential?: string;
  readonly via: 'mcp' | 'rest' | 'cli' | 'mqtt' | 'ui' | 'system';
  /** How events that follow name their maker. */
  readonly by: Extract<Maker, 'user' | 'mqtt' | 'system'>;
  /** A cause id that the caller names (header X-Causeway-Cause, key `_cause`). */
  readonly causeId?: string;
}

/** What every call is given beside its input. */
export interface CallContext {
  readonly caller: Caller;
  /** Check everything, change nothing, answer what would happen. Never set for reads. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/** An operation. `G` is the part of the gateway that it needs. */
export interface Op<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject, G = never> {
  /** `verb_noun`, at most 40 characters of a-z and _. */
  readonly name: string;
  readonly title: string;
  /** For people and AI clients: what it does, when to use it, what it answers. */
  readonly description: string;
  /** A flat strict object; no unions at the root. */
  readonly input: I;
  readonly output: O;
  readonly effect: OpEffect;
  readonly scope: Scope;
  /** Calling twice is the same as once. */
  readonly idempotent?: boolean;
  /** The REST route, with `:name` for inputs in the path; other inputs are the query (GET, DELETE) or the JSON body. */
  readonly route: readonly ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string];
  /** Listed in MCP's tools/list; the rest is reached through search_tools and call_*_tool. */
  readonly listed: boolean;
  /** Of which type of backend it is; offered only where one is configured. */
  readonly backend?: string;
  run(gateway: G, input: z.infer<I>, context: CallContext): Promise<z.infer<O>>;
}

/** Types an operation by its schemas. */
export const defineOp = <I extends z.ZodObject, O extends z.ZodObject, G>(op: Op<I, O, G>): Op<I, O, G> => op;

/** An operation bound to its gateway, as the views see it. Calls pass `policy` (roles, masters, confirm, dry run, audit). */
export interface BoundOp extends Omit<Op, 'run'> {
  /** @throws CausewayError INPUT_INVALID, FORBIDDEN, CONFIRM_REQUIRED, SWITCHED_OFF and those of the operation */
  call(input: unknown, context: CallContext): Promise<Record<string, unknown>>;
}

/** A thing that clients can read and subscribe to. */
export interface ResourceKind {
  /** `rule://{id}`, `rules://all`, … with `{name}` for the parts. */
  readonly template: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The content as JSON. Parts are percent-decoded. @throws NOT_FOUND and the like */
  read(parts: Record<string, string>, context: CallContext): Promise<unknown>;
  /** Concrete URIs that exist now, for resources/list; absent where they are too many. */
  list?(context: CallContext): Promise<{ uri: string; name: string }[]>;
  /**
   * Calls `tell` when the resource changes; what it returns ends that. Asked once for all subscribers of a URI. Absent
   * where `updated$` tells.
   */
  watch?(parts: Record<string, string>, tell: () => void): () => void;
  /** Of which type of backend it is; offered only where one is configured. */
  readonly backend?: string;
}

/** What the views get of the gateway. */
export interface Views {
  readonly version: string;
  readonly ops: readonly BoundOp[];
  readonly resources: readonly ResourceKind[];
  /** Concrete URIs whose content has changed; many a second in a flood: subscribers coalesce. */
  readonly updated$: Observable<string>;
  /** The set of resources has changed (a rule or device came or went). */
  readonly listChanged$: Observable<void>;
  /** Alive, and ready: true when all parts are; parts say which is not and why. */
  health(): { ready: boolean; parts: Record<string, { ok: boolean; note?: string }> };
  /** Prometheus text. */
  metrics(): string;
}
