// Where the engine's happenings go: the bus, the journal, the store's traces, and what the views are told.
import type { Subject } from 'rxjs';
import { encodeEvent } from '../bus/codec.ts';
import type { Face } from '../bus/face.ts';
import type { EngineSinks } from '../engine/core.ts';
import { LOG } from '../engine/system-logs.ts';
import type { Log } from '../lib/log.ts';
import type { Event } from '../model/event.ts';
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { uris } from '../ops/resources.ts';
import type { Journal, JournalKind } from '../store/journal-port.ts';
import type { Store } from '../store/store.ts';
import type { RecentEvents } from './recent.ts';

/** What the sinks write to. */
export interface SinkParts {
  readonly face: Face;
  readonly journal: Journal;
  readonly store: Store;
  readonly log: Log;
  readonly recent: RecentEvents;
  readonly updated$: Subject<string>;
  readonly listChanged$: Subject<void>;
  readonly now: () => number;
  /** The run-time side of a rule as views show it; undefined when there is none of this id. */
  readonly ruleState: (id: string) => object | undefined;
  readonly suspended: () => string[];
  /** Rules came, changed or went. */
  readonly onRulesChanged: () => void;
  /** Every event, for backends that derive from others. */
  readonly follow: (event: Event) => void;
  readonly onEffect: EngineSinks['onEffect'];
  readonly notifyGuard: (message: string, title: string) => void;
}

// Short, so that a killed process loses the traces of a moment only.
const TRACE_BATCH_MS = 25;
// While the disk is full.
const TRACE_RETRY_MS = 2_000;
const TRACES_KEPT = 5_000;

/** Which kind of journal entry an event is; undefined for what need not be kept. */
function journalKind(event: Event): JournalKind | undefined {
  if (event.attribute === '$availability') return 'availability';
  if (event.attribute === '$device') return undefined;
  if (event.attribute === LOG) return 'log';
  if (event.kind === 'device') return 'event';
  if (event.kind === 'flow') return 'flow';
  if (event.kind === 'input') return event.backend === 'mqtt' ? 'message' : 'webhook';
  if (event.device === 'house:variables') return 'variable';
  return event.attribute === 'mode' ? 'mode' : undefined;
}

/** Keeps telemetry to one entry a minute, and only if changed. */
function thinning(): (event: Event) => boolean {
  const last = new Map<string, { at: number; value: string }>();
  return event => {
    const key = `${event.device}\n${event.attribute}`;
    const value = JSON.stringify(event.value);
    const known = last.get(key);
    if (known && (event.ts - known.at < 60_000 || known.value === value)) return false;
    last.set(key, { at: event.ts, value });
    return true;
  };
}

/** Builds the sinks, and `flush`, which stores the traces that wait. */
export function sinksOf(
  parts: SinkParts,
  isTelemetry: (event: Event) => boolean,
  later: (ms: number, call: () => void) => void,
) {
  const { face, journal, store, log, recent, updated$ } = parts;
  const keepTelemetry = thinning();
  let traces: Trace[] = [];
  let isWaiting = false;
  let journalSeq = 0;
  const flush = async () => {
    const batch = traces;
    traces = [];
    if (batch.length === 0) return;
    await store.putTraces(batch).catch(error => {
      log.error({ error: String(error) }, 'traces cannot be stored; it is tried again');
      traces = [...batch, ...traces].slice(-TRACES_KEPT);
      flushIn(TRACE_RETRY_MS);
    });
  };
  const flushIn = (ms: number) => {
    if (isWaiting) return;
    isWaiting = true;
    later(ms, () => {
      isWaiting = false;
      void flush();
    });
  };
  // What changes often is told once: views read what is now anyway.
  const untold = new Set<string>();
  const tell = (uri: string) => {
    if (untold.size === 0) {
      later(0, () => {
        const uris = [...untold];
        untold.clear();
        for (const each of uris) updated$.next(each);
      });
    }
    untold.add(uri);
  };
  let isListUntold = false;
  const tellList = () => {
    isListUntold = false;
    parts.listChanged$.next();
  };
  const sinks: EngineSinks = {
    onEvent(event) {
      let encoded: string | undefined;
      const encode = () => (encoded ??= encodeEvent(event));
      face.event(event, encode);
      recent.add(event);
      const kind = journalKind(event);
      if (kind && (!isTelemetry(event) || keepTelemetry(event))) {
        const { ts, device: subject, attribute } = event;
        journal.append({ ts, seq: ++journalSeq, kind, subject, attribute, body: encode() });
      }
      if (event.attribute === 'mode' && event.kind === 'state') face.mode(event.value, event.ts);
      if (event.device === 'house:variables') face.variable(event.attribute, event.value, event.ts);
      // A line of a log changes nothing that a view shows of its device.
      if (event.attribute.startsWith('$') && event.attribute !== LOG) {
        tell(uris.device(event.device));
      } else if (event.kind === 'device') tell(uris.device(event.device));
      if (
        event.kind === 'system' &&
        event.attribute !== '$availability' &&
        event.value !== null &&
        typeof event.value === 'object' &&
        '$command' in event.value
      ) {
        const { $command, ...args } = event.value as Record<string, Json>;
        face.command({
          id: String($command),
          device: event.device,
          command: event.attribute,
          args,
          cause: event.cause,
        });
      }
      tell(uris.events);
      parts.follow(event);
    },
    onTrace(trace) {
      traces.push(trace);
      tell(uris.run(trace.run));
      flushIn(TRACE_BATCH_MS);
    },
    onDevice(id) {
      face.device(id);
      tell(uris.device(id));
      // Hundreds come at once; a list is read anew once.
      if (!isListUntold) later(0, tellList);
      isListUntold = true;
    },
    onBackend(id, status) {
      face.backend(id, status);
      journal.append({
        ts: parts.now(),
        seq: ++journalSeq,
        kind: 'backend',
        subject: id,
        attribute: status.state,
        body: JSON.stringify({ ready: status.ready, ...(status.reason !== undefined && { reason: status.reason }) }),
      });
    },
    onGuard(notice) {
      log.warn({ ...notice }, 'the guard stepped in');
      face.guard(notice, parts.suspended());
      if (notice.suspended)
        parts.notifyGuard(`${notice.message}. ${notice.hints[0] ?? ''}`, `Rule ${notice.rule} stands suspended`);
    },
    onRule(id, what, details) {
      face.rule(id, what === 'deleted' ? undefined : parts.ruleState);
      face.ruleEvent(id, what, details, parts.now());
      if (what === 'resumed' || what === 'deleted') face.guardState(parts.suspended());
      tell(uris.rule(id));
      tell(uris.rules);
      if (what === 'created' || what === 'deleted') parts.listChanged$.next();
      if (what === 'created' || what === 'updated' || what === 'deleted') {
        parts.onRulesChanged();
        journal.append({
          ts: parts.now(),
          seq: ++journalSeq,
          kind: 'revision',
          subject: id,
          attribute: what,
          body: JSON.stringify(details ?? null),
        });
      }
    },
    onEffect: parts.onEffect,
    onResult(result, device) {
      face.result(result, device);
      journal.append({
        ts: parts.now(),
        seq: ++journalSeq,
        kind: 'result',
        subject: device,
        attribute: result.outcome,
        body: JSON.stringify(result),
      });
    },
    onLog({ rule, run, level, message }) {
      const write = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
      log[write]({ rule, run }, message);
    },
  };
  return { sinks, flush };
}
