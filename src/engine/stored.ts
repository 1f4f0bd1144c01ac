// Rows of the store before they are used. What lies there was written by an earlier Causeway, or damaged, or put there by a
// hand: a row that cannot be understood is taken out, and stops nothing else.
import { z } from 'zod';
import type { Json } from '../model/value.ts';
import type { TableName, Tables } from '../store/store.ts';

/** Beyond it there are no dates (ECMAScript). */
const LAST_MS = 8.64e15;
const Instant = z.number().min(-LAST_MS).max(LAST_MS);
const Anything = z.unknown().refine(value => value !== undefined);
const Fields = z.object({});
const PathStep = z.object({ rule: z.string(), on: z.string() });

const Cause = z.object({
  root: z.string(),
  parent: z.string().nullable(),
  depth: z.number(),
  path: z.array(PathStep),
  origin: z.object({ kind: z.string() }),
  by: z.string(),
});

// --- what triggers remember, by name ---------------------------------------------------------------------------------

const Slot = z.object({ at: Instant, key: z.string() });
const MEMORY: readonly [RegExp, z.ZodType][] = [
  [/^h:/, z.object({ since: Instant, due: Instant, data: Fields, cause: Cause.optional() })],
  [/^u:/, Fields],
  [/^w:/, z.union([z.literal(true), z.array(z.tuple([Instant, Anything]))])],
  [
    /^debounce$/,
    z.object({
      due: Instant,
      fired: z.object({ data: Fields, cause: Cause.optional(), lateMs: z.number() }),
    }),
  ],
  [/^(throttle|phase|since:.*|fired:.*)$/, Instant],
  [/^schedule$/, z.object({ next: Slot.nullable(), last: Slot.nullable() })],
  [/^armed:/, z.boolean()],
  [/^was$/, z.union([z.boolean(), z.literal('unknown')])],
  [/^times$/, z.array(Instant)],
  [/^partials$/, z.array(z.object({ at: Instant, next: z.number() }))],
];
/** Of a trigger inside another one, or inside a wait. */
const NESTED = /^(?:(?:of|until|without|s\d+)\.)+/;

/** Why a value is nothing that a trigger remembers under a name. */
function memoryFault(name: string, value: unknown): string | undefined {
  const bare = name.replace(NESTED, '');
  const [, schema] = MEMORY.find(([pattern]) => pattern.test(bare)) ?? [];
  return schema && faultOf(schema, value);
}

const RememberedByWait = z
  .record(z.string(), z.unknown())
  .refine(names => Object.entries(names).every(([name, value]) => memoryFault(name, value) === undefined));

// --- runs --------------------------------------------------------------------------------------------------------------

const Repeat = z.object({ index: z.number() });
const Frame = z.object({
  list: z.string(),
  i: z.int().min(0),
  step: z.object({
    state: Anything,
    trace: z.int(),
    attempt: z.int(),
    attemptBegan: Instant.optional(),
    began: Instant,
    memory: RememberedByWait.optional(),
    limit: Instant.optional(),
    repeat: Repeat.optional(),
  }),
  repeat: Repeat.optional(),
});
const Thread = z.object({
  id: z.int(),
  frames: z.array(Frame).min(1),
  parent: z.int().optional(),
  wait: z.object({
    since: Instant,
    due: Instant.optional(),
    answers: z.array(z.string()).optional(),
    name: z.string().optional(),
  }),
  vars: Fields.optional(),
  bindings: Fields.optional(),
  set: z.array(z.string()).optional(),
  outputs: z.array(z.string()).optional(),
});
const Run = z.object({
  id: z.string(),
  rule: z.string(),
  revision: z.int(),
  status: z.enum(['running', 'queued']),
  key: z.string(),
  trigger: z.object({ id: z.string(), type: z.string(), at: z.string() }),
  cause: Cause,
  out: Cause,
  args: Fields,
  triggeredAt: Instant,
  startedAt: Instant.optional(),
  deadline: Instant.optional(),
  lateMs: z.number(),
  shadow: z.boolean(),
  threads: z.array(Thread),
  nextThread: z.int(),
  vars: Fields,
  bindings: Fields,
  steps: z.array(z.object({ path: z.string(), type: z.string(), at: z.string() })),
  stepCount: z.int(),
  errors: z.int(),
  caller: z.string().optional(),
});

// --- the other tables --------------------------------------------------------------------------------------------------

const Outgoing = z.discriminatedUnion('type', [
  z.object({ type: z.literal('publish'), topic: z.string(), payload: z.string(), retain: z.boolean() }),
  z.object({ type: z.literal('notify'), message: z.string() }),
  z.object({ type: z.literal('http'), url: z.string() }),
]);
const Outbox = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    once: z.boolean(),
    command: z.object({
      id: z.string(),
      device: z.string(),
      command: z.string(),
      args: Fields,
      cause: Cause,
    }),
  }),
  z.object({ kind: z.literal('effect'), once: z.boolean(), effect: Outgoing, cause: Cause }),
  z.object({
    kind: z.literal('ending'),
    device: z.string(),
    command: z.string(),
    args: Fields,
    due: Instant,
    of: z.string(),
    cause: Cause,
    about: z.string().optional(),
    heirs: z.array(z.string()).optional(),
  }),
]);
const Stamp = z.string().refine(text => !Number.isNaN(Date.parse(text)));
const Runtime = z.object({
  override: z.union([z.boolean(), z.literal('shadow')]).optional(),
  suspended: z
    .object({
      reason: z.string(),
      at: z.string(),
      message: z.string(),
      cycle: z.array(PathStep),
      hints: z.array(z.string()),
      resumeAt: Stamp.optional(),
      resumeDue: Instant.optional(),
    })
    .optional(),
  runs: z.number(),
  refused: z.number(),
  failed: z.number(),
  lastTriggered: Stamp.optional(),
  lastRun: Stamp.optional(),
  lastOutcome: z.string().optional(),
});
const HouseValue = z.object({ value: Anything, lastChanged: Instant });
const Reading = z.object({
  value: Anything,
  quality: z.enum(['good', 'unknown', 'unavailable']),
  lastChanged: Instant,
  lastReported: Instant,
  sourceTime: z.number().optional(),
  sourceSeq: z.number().optional(),
  seq: z.number(),
  cause: Cause.nullable(),
});
const ValueType = z.object({
  type: z.enum(['number', 'enum', 'boolean', 'string', 'json']),
  values: z.array(z.string()).optional(),
  step: z.number().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
});
const Device = z.object({
  id: z.string(),
  name: z.string(),
  room: z.string().optional(),
  capabilities: z.array(z.string()),
  attributes: z.record(z.string(), ValueType),
  commands: z.record(
    z.string(),
    z.object({
      args: z.array(ValueType.extend({ name: z.string() })),
      effects: z.array(z.object({ attribute: z.string() })),
      idempotent: z.boolean(),
    }),
  ),
});

type Fault = (key: string, value: Json) => string | undefined;
const fits =
  (schema: z.ZodType): Fault =>
  (_key, value) =>
    faultOf(schema, value);

/** Of the tables that the engine reads, what is wrong with a row. */
const FAULTS: Partial<Record<TableName, Fault>> = {
  memory(key, value) {
    // <rule>/<trigger>/<hash>/<name>
    const [, name] = /^(?:[^/]+\/){3}(.+)$/s.exec(key) ?? [];
    return name === undefined ? 'its key names no trigger' : memoryFault(name, value);
  },
  runs: (key, value) => faultOf(Run, value) ?? idFault(key, (value as { id: string }).id),
  outbox: (key, value) => {
    const { kind, command } = value as { kind?: string; command?: { id: string } };
    return faultOf(Outbox, value) ?? (kind === 'command' && command ? idFault(key, command.id) : undefined);
  },
  rules: fits(Runtime),
  variables: fits(HouseValue),
  modes: fits(HouseValue),
  topics: fits(HouseValue),
  state: fits(Reading),
  devices: (key, value) => faultOf(Device, value) ?? idFault(key, (value as { id: string }).id),
  scenes: fits(z.record(z.string(), z.record(z.string(), z.unknown()))),
};

const idFault = (key: string, id: string) => (id === key ? undefined : `its id is ${JSON.stringify(id)}`);

function faultOf(schema: z.ZodType, value: unknown): string | undefined {
  const read = schema.safeParse(value);
  if (read.success) return undefined;
  const [issue] = read.error.issues;
  return `${issue?.path.map(String).join('/')}: ${issue?.message}`.replace(/^: /, '');
}

/** A row that cannot be understood. */
export interface UnsoundRow {
  readonly table: TableName;
  readonly key: string;
  readonly reason: string;
}

/** Takes the rows that cannot be understood out of the tables. */
export function takeUnsound(tables: Tables): UnsoundRow[] {
  const unsound: UnsoundRow[] = [];
  for (const [table, fault] of Object.entries(FAULTS) as [TableName, Fault][]) {
    for (const [key, value] of tables[table]) {
      const reason = value === null ? 'it is empty' : fault(key, value);
      if (reason === undefined) continue;
      tables[table].delete(key);
      unsound.push({ table, key, reason });
    }
  }
  return unsound;
}

/** Engine time minus wall time, as the last process left it. */
export function skewOf(meta: ReadonlyMap<string, Json>): number {
  const skew = meta.get('skew');
  return typeof skew === 'number' && Math.abs(skew) < LAST_MS / 10 ? skew : 0;
}
