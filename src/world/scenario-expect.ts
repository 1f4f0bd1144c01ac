// The expectations of a scenario: what must have happened, and what must not.
import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { parseStamp } from '../lib/time/clock-time.ts';
import { FINDING_CODES } from '../model/finding.ts';
import { Time } from './scenario-time.ts';

const Json = z.json();
const Text = z.string();
/** Matchers are partial: what they do not name may be anything. */
const partial = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).partial();

const CommandMatch = partial({
  device: Text,
  command: Text,
  args: Json,
  by: Text,
  rule: Text,
  outcome: Text,
  error: Text,
});
const NotifyMatch = partial({
  rule: Text,
  message: Json,
  title: Json,
  to: Text,
  priority: Text,
  tag: Json,
  ask: Json,
});
const PublishMatch = partial({ rule: Text, topic: Text, payload: Json, retain: z.boolean(), qos: z.number() });
const HttpMatch = partial({ rule: Text, url: Text, method: Text, headers: Json, body: Json });
const LogMatch = partial({ rule: Text, run: Text, level: Text, message: Json });
const GuardMatch = partial({
  rule: Text,
  reason: z.enum(['loop', 'storm', 'budget']),
  suspended: z.boolean(),
  message: Text,
});
const FindingMatch = partial({
  rule: Text,
  code: z.enum(FINDING_CODES),
  path: Text,
  severity: z.enum(['error', 'warning', 'info']),
  message: Text,
});
const RunMatch = z.union([Text.min(1).transform(rule => ({ rule })), partial({ rule: Text, trigger: Text, by: Text })]);
const TraceMatch = partial({
  rule: Text,
  run: Text,
  trigger: Text,
  at: Time,
  outcome: Text,
  reason: Text,
  lateMs: z.number(),
  condition: Json,
  by: Text,
  note: Text,
  steps: Json,
  path: Text,
  type: Text,
  ms: z.number(),
  device: Text,
  command: Text,
  error: Json,
  result: Json,
});

/** What can be looked for. */
export const SEEN = [
  'run',
  'command',
  'notify',
  'publish',
  'http',
  'log',
  'guard',
  'finding',
  'trace',
  'save',
] as const;
/** A name of `SEEN`. */
export type SeenKind = (typeof SEEN)[number];

const seen = {
  run: RunMatch.optional(),
  command: CommandMatch.optional(),
  notify: NotifyMatch.optional(),
  publish: PublishMatch.optional(),
  http: HttpMatch.optional(),
  log: LogMatch.optional(),
  guard: GuardMatch.optional(),
  finding: FindingMatch.optional(),
  trace: TraceMatch.optional(),
  save: z.enum(['accepted', 'rejected']).optional(),
  // Beside `save`.
  path: Text.optional(),
  code: Text.optional(),
  id: Text.optional(),
};

const Tolerance = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  context.addIssue({ code: 'custom', message: `"${text}" is no duration` });
  return z.NEVER;
});

const Stamp = z.string().refine(text => parseStamp(text) !== undefined, 'no stamp; write 2027-01-15T10:35:00Z');

type Seen = { [K in keyof typeof seen]?: unknown };

/** The thing that an expectation looks for; `finding` beside `save` belongs to it. */
export const kindOf = (expectation: Seen): SeenKind | undefined =>
  expectation.save !== undefined ? 'save' : SEEN.find(kind => expectation[kind] !== undefined);

function oneKind(expectation: Seen, context: z.RefinementCtx, wants: string): void {
  const kinds = SEEN.filter(
    kind => expectation[kind] !== undefined && !(kind === 'finding' && expectation.save !== undefined),
  );
  if (kinds.length !== 1) {
    context.addIssue({
      code: 'custom',
      message:
        kinds.length === 0 ? wants : `one thing at a time; write one expectation for each of ${kinds.join(', ')}`,
    });
  }
  for (const field of ['path', 'code', 'id'] as const) {
    if (expectation[field] !== undefined && expectation.save === undefined)
      context.addIssue({ code: 'custom', path: [field], message: `${field} goes with save` });
  }
}

const No = z
  .strictObject(seen)
  .superRefine((no, context) => oneKind(no, context, `no wants one of ${SEEN.join(', ')}`));
const Next = z.strictObject({
  rule: Text,
  trigger: Text.optional(),
  is: z.union([z.null(), Stamp, z.array(Stamp).min(1)]),
});

/** The schema of an expectation. */
export const Expect = z
  .strictObject({
    at: Time.optional(),
    within: z.tuple([Time, Time]).optional(),
    tolerance: Tolerance.optional(),
    count: z.int().min(0).optional(),
    ...seen,
    no: No.optional(),
    next: Next.optional(),
    rule: Text.optional(),
    runs: z.int().min(0).optional(),
    refused: z.int().min(0).optional(),
    reason: Text.optional(),
    status: Text.optional(),
    lastTriggered: z.union([z.null(), Time]).optional(),
    lastRun: z.union([z.null(), Time]).optional(),
    state: z.record(Text, z.record(Text, Json)).optional(),
    variables: z.record(Text, Json).optional(),
    mode: z.union([Text, z.null()]).optional(),
  })
  .superRefine((expectation, context) => {
    const { rule, no, next, state, variables, mode, at, within, count } = expectation;
    const end = state !== undefined || variables !== undefined || mode !== undefined;
    const sought = kindOf(expectation) !== undefined;
    const forms = [sought, no !== undefined, next !== undefined, rule !== undefined, end].filter(Boolean).length;
    if (forms === 0 || (forms === 1 && sought)) {
      oneKind(expectation, context, `expect one of ${SEEN.join(', ')}, no, next, rule, state, variables, mode`);
    } else if (forms > 1) {
      context.addIssue({ code: 'custom', message: 'this mixes several forms; write one expectation for each' });
    }
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (at !== undefined && within !== undefined) refuse('within', 'give at or within, not both');
    if (count !== undefined && !sought) refuse('count', `count goes with one of ${SEEN.join(', ')}`);
    if (end && (at !== undefined || within !== undefined)) {
      refuse(at === undefined ? 'within' : 'at', 'state, variables and mode mean the end of the scenario');
    }
    if (rule !== undefined && within !== undefined) refuse('within', 'what is said of a rule is in all');
    const fields = ['runs', 'refused', 'reason', 'status', 'lastTriggered', 'lastRun'] as const;
    if (rule === undefined) {
      for (const field of fields) if (expectation[field] !== undefined) refuse(field, `${field} goes with rule`);
    } else if (fields.every(field => expectation[field] === undefined)) {
      refuse('rule', `say what is expected of the rule: ${fields.join(', ')}`);
    }
  });

/** An expectation that was read. */
export type Expect = z.output<typeof Expect>;
