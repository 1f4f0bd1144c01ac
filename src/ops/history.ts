// Operations on what happened: events, runs, the audit.
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { instant } from '../lib/instant.ts';
import { didYouMean } from '../lib/text.ts';
import type { Event } from '../model/event.ts';
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { JournalKind } from '../store/journal-port.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';
import { showEvent } from './show.ts';
import { spanOf } from './wait.ts';

const AnyObject = z.looseObject({});
/** Lines of a log that a question looks at, at most. */
const LOOKED_AT = 5_000;
/** How long wait_for_event waits at most. */
const LONGEST_MS = 25_000;
const limit = z.int().min(1).max(500).optional();

const filters = {
  device: z.string().optional().meta({ description: 'Device id, alias, or topic' }),
  attribute: z.string().optional(),
  backend: z.string().optional(),
  kind: z.enum(['device', 'state', 'flow', 'input', 'system']).optional(),
};

interface Asked {
  readonly device?: string | undefined;
  readonly attribute?: string | undefined;
  readonly backend?: string | undefined;
  readonly since?: string | undefined;
}

/** A device that is not there now may have events; one that never had any is a slip of the pen. */
function noEvents(gateway: Gateway, asked: Asked): string {
  const { devices } = gateway.engine.core;
  const backends = [...devices.allBackends().keys()];
  if (asked.backend !== undefined && !backends.includes(asked.backend))
    return `there is no backend "${asked.backend}"; ${didYouMean(asked.backend, backends)}`;
  const device = asked.device === undefined ? undefined : devices.get(asked.device);
  if (asked.device !== undefined && !device) {
    const names = [...devices.all().map(({ id }) => id), ...Object.keys(devices.aliases())];
    return `there is no device "${asked.device}", nor events of such a topic; ${didYouMean(asked.device, names)}`;
  }
  const attributes = Object.keys(device?.attributes ?? {});
  if (device && asked.attribute !== undefined && !attributes.includes(asked.attribute))
    return `${device.id} has no attribute "${asked.attribute}"; ${didYouMean(asked.attribute, attributes)}`;
  return asked.since === undefined
    ? 'nothing of this kind is in memory; since: 24h (or an instant) looks into the journal'
    : 'nothing of this kind in that time; an earlier since looks further back, as far as the journal is kept';
}

const matcher = (gateway: Gateway, input: { device?: string; attribute?: string; backend?: string; kind?: string }) => {
  const device = input.device === undefined ? undefined : gateway.engine.core.devices.resolve(input.device);
  return (event: Event) =>
    (device === undefined || event.device === device) &&
    (input.attribute === undefined || event.attribute === input.attribute) &&
    (input.backend === undefined || event.backend === input.backend) &&
    (input.kind === undefined || event.kind === input.kind);
};

/** Lines of logs would push the rest aside: only where events of the system are asked for. */
const kindsOf = (kind: string | undefined): JournalKind[] => [
  ...(['event', 'message', 'mode', 'variable', 'availability', 'webhook', 'flow'] as const),
  ...(kind === 'system' ? (['log'] as const) : []),
];

const listEvents = defineOp({
  name: 'list_events',
  title: 'List events',
  description:
    'What happened, newest first: the history of a device or attribute, messages, modes. Without since: the newest in memory. With since (2h, or an instant): from the journal.',
  input: z.strictObject({ ...filters, since: z.string().optional(), until: z.string().optional(), limit }),
  output: z.looseObject({ events: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/events'],
  listed: true,
  async run(gateway: Gateway, input) {
    const matches = matcher(gateway, input);
    const max = input.limit ?? 50;
    if (input.since === undefined && input.until === undefined) {
      const recent = [...gateway.recent.list()].reverse().filter(matches).slice(0, max);
      return { events: recent.map(showEvent), ...(recent.length === 0 && { hint: noEvents(gateway, input) }) };
    }
    const now = gateway.clock.now();
    const from = instant(input.since, now, 'since');
    const to = instant(input.until, now, 'until');
    const entries = await gateway.journal.query({
      ...(input.device !== undefined && { subject: gateway.engine.core.devices.resolve(input.device) }),
      ...(input.attribute !== undefined && { attribute: input.attribute }),
      kinds: kindsOf(input.kind),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      newestFirst: true,
      limit: max,
    });
    const events = entries.map(entry => JSON.parse(entry.body) as Event & { ts: unknown });
    const found = events.filter(matches) as unknown as Record<string, Json>[];
    return { events: found, ...(found.length === 0 && { hint: noEvents(gateway, input) }) };
  },
});

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

/** A line of a log as it lies in the journal. */
interface Line {
  readonly ts: string;
  readonly backend: string;
  readonly device: string;
  readonly value: { readonly level: string; readonly message: string };
}

/** Why there is no line: the logs of most systems are only followed where config.yaml says so. */
function noLines({ engine }: Gateway, backend: string | undefined): string {
  const backends = [...engine.core.devices.allBackends().keys()];
  if (backend !== undefined && !backends.includes(backend))
    return `there is no backend "${backend}"; ${didYouMean(backend, backends)}`;
  return 'no line is kept that fits: there are those of backends with `logs` in config.yaml, since they are followed; search_tools "log" has operations that ask a system itself';
}

const listLogs = defineOp({
  name: 'list_logs',
  title: 'Logs of bridged systems',
  description:
    'What bridged systems (a hub and its devices) have logged while Causeway followed their logs (`logs` of the backend), newest first; narrow by backend, device, level, text and time. Not the log of Causeway.',
  input: z.strictObject({
    backend: z.string().optional(),
    device: z.string().optional().meta({ description: 'Device id or alias' }),
    level: z.enum(LEVELS).optional().meta({ description: 'From this level on' }),
    text: z.string().optional().meta({ description: 'Part of the message, case ignored' }),
    since: z.string().optional().meta({ description: '`2h`, or an instant; a day ago by default' }),
    until: z.string().optional(),
    limit,
  }),
  output: z.looseObject({ lines: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/logs'],
  listed: false,
  async run(gateway: Gateway, input) {
    const now = gateway.clock.now();
    const from = instant(input.since ?? '1d', now, 'since');
    const to = instant(input.until, now, 'until');
    const max = input.limit ?? 100;
    const subject = input.device === undefined ? undefined : gateway.engine.core.devices.resolve(input.device);
    const least = input.level === undefined ? 0 : LEVELS.indexOf(input.level);
    const word = input.text?.toLowerCase() ?? '';
    const entries = await gateway.journal.query({
      ...(subject !== undefined && { subject }),
      kinds: ['log'] satisfies JournalKind[],
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      newestFirst: true,
      limit: LOOKED_AT,
    });
    const found = entries
      .map(entry => JSON.parse(entry.body) as Line)
      .filter(
        ({ backend, value: { level, message } }) =>
          (input.backend === undefined || backend === input.backend) &&
          // A level that is not known is rather shown than lost.
          (!(LEVELS as readonly string[]).includes(level) || LEVELS.indexOf(level as 'info') >= least) &&
          message.toLowerCase().includes(word),
      );
    return {
      lines: found.slice(0, max).map(({ ts, backend, device, value }) => ({
        at: ts,
        backend,
        ...(device !== backend && { device }),
        ...value,
      })),
      ...(found.length === 0 && { hint: noLines(gateway, input.backend) }),
    };
  },
});

const waitForEvent = defineOp({
  name: 'wait_for_event',
  title: 'Wait for an event',
  description:
    'Waits up to 25 s for the next event that fits (a long poll, for clients without subscriptions). null when none came.',
  input: z.strictObject({
    ...filters,
    value: z.json().optional(),
    timeout: z.string().optional().meta({ description: 'At most 25s' }),
  }),
  output: z.looseObject({ event: z.unknown() }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/events/next'],
  listed: true,
  async run(gateway: Gateway, input, { signal }) {
    const matches = matcher(gateway, input);
    const timeout = spanOf(input.timeout, 'timeout', LONGEST_MS) ?? LONGEST_MS;
    const wanted = (event: Event) =>
      matches(event) && (input.value === undefined || JSON.stringify(event.value) === JSON.stringify(input.value));
    const event = await gateway.recent.next(wanted, timeout, signal);
    return { event: event ? showEvent(event) : null };
  },
});

const OUTCOMES = [
  'running',
  'waiting',
  'completed',
  'completed_with_errors',
  'refused',
  'failed',
  'cancelled',
  'replaced',
  'timed_out',
  'budget_exceeded',
  'in_doubt',
  'abandoned',
  'let_go',
] as const satisfies readonly Trace['outcome'][];

const listRuns = defineOp({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Runs and refusals of rules, newest first: which trigger, why it did or did not fire and run, how it ended. Running ones first.',
  input: z.strictObject({
    rule: z.string().optional().meta({ description: 'Id of a rule' }),
    outcome: z.enum(OUTCOMES).optional(),
    before: z.string().optional().meta({ description: 'Run id: only older ones' }),
    limit,
  }),
  output: z.looseObject({ runs: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/runs'],
  listed: true,
  async run(gateway: Gateway, input) {
    if (input.rule !== undefined) gateway.rulebook.require(input.rule);
    const max = input.limit ?? 20;
    const running =
      input.before === undefined
        ? gateway.engine.runs.all().filter(run => input.rule === undefined || run.rule === input.rule)
        : [];
    await gateway.storeTraces();
    const traces = await gateway.store.traces({
      ...(input.rule !== undefined && { rule: input.rule }),
      ...(input.outcome !== undefined && { outcome: input.outcome }),
      ...(input.before !== undefined && { before: input.before }),
      limit: max,
    });
    // One that has ended meanwhile.
    const ended = new Set(traces.map(trace => trace.run));
    const still = running
      .filter(run => !ended.has(run.id))
      .map(run => gateway.engine.runs.traceOf(run))
      .filter(({ outcome }) => input.outcome === undefined || outcome === input.outcome);
    const shown = [...still, ...traces].slice(0, max);
    return { runs: shown.map(({ steps, cause: _cause, ...trace }) => ({ ...trace, steps: steps.length })) };
  },
});

/** The trace of a run, as it stands or as it ended. */
export async function traceOf(gateway: Gateway, run: string): Promise<Trace | undefined> {
  const live = gateway.engine.runs.get(run);
  if (live) return gateway.engine.runs.traceOf(live);
  const stored = async () => {
    await gateway.storeTraces();
    return gateway.store.trace(run);
  };
  const trace = await stored();
  if (trace) return trace;
  // It may have ended in the turn that is being committed right now.
  await gateway.engine.do(() => {});
  return stored();
}

const getRun = defineOp({
  name: 'get_run',
  title: 'Get a run',
  description:
    'The trace of a run or refusal: the trigger, the state it saw, each condition with its values, each step with outcome, the chain of causes.',
  input: z.strictObject({ run: z.string() }),
  output: AnyObject,
  effect: 'read',
  scope: 'read',
  route: ['GET', '/runs/:run'],
  listed: true,
  async run(gateway: Gateway, input) {
    const trace = await traceOf(gateway, input.run);
    if (!trace)
      throw new CausewayError('RUN_NOT_FOUND', `there is no run "${input.run}"`, {
        hint: 'list_runs shows those whose traces are kept',
      });
    return { ...trace };
  },
});

const cancelRun = defineOp({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: 'Ends a running or waiting run; its finally steps are carried out.',
  input: z.strictObject({ run: z.string() }),
  output: AnyObject,
  effect: 'write',
  scope: 'devices:control',
  idempotent: true,
  route: ['POST', '/runs/:run/cancel'],
  listed: false,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    if (!gateway.engine.runs.get(input.run))
      throw new CausewayError('RUN_NOT_FOUND', `no run "${input.run}" is running`);
    if (!dryRun)
      await gateway.engine.do(() =>
        gateway.engine.runs.stop(input.run, 'cancelled', `cancelled by ${caller.principal}`),
      );
    return { run: input.run, cancelled: !dryRun };
  },
});

const listAudit = defineOp({
  name: 'list_audit',
  title: 'Audit',
  description: 'Who changed what through which view, and how it ended, newest first.',
  input: z.strictObject({ principal: z.string().optional(), op: z.string().optional(), limit }),
  output: z.looseObject({ records: z.array(AnyObject) }),
  effect: 'read',
  scope: 'admin',
  route: ['GET', '/audit'],
  listed: false,
  async run(gateway: Gateway, input) {
    const records = await gateway.store.audit({ ...input, limit: input.limit ?? 50 });
    return { records: records.map(record => ({ ...record, at: iso(record.at) })) };
  },
});

/** Operations on what happened. */
export const historyOps = [listEvents, listLogs, waitForEvent, listRuns, getRun, cancelRun, listAudit];
