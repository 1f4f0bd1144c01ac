// What comes in from backends and from outside, applied to the present and told as events.
import { jsonEqual, parseJson } from '../lib/json.ts';
import { memoByObject } from '../lib/memo.ts';
import { type Cause, causedBy, type Maker, rootCause } from '../model/cause.ts';
import { type Availability, backendOf, type Device } from '../model/device.ts';
import type { Report } from '../model/event.ts';
import { coerce, type Json } from '../model/value.ts';
import type { BackendStatus } from '../state/devices.ts';
import type { Core } from './core.ts';
import type { ValueReport } from './flood.ts';
import { setMode } from './house-changes.ts';
import { takePlace } from './place.ts';
import { namesBackend, statusOf as statusOfRule } from './rule-status.ts';
import { keys } from './signals.ts';
import { applyLog } from './system-logs.ts';

/** Counted, and told in metrics. */
export interface InputCounters {
  reports: number;
  duplicates: number;
  late: number;
  rejected: number;
  unknownDevices: number;
  messages: number;
  /** Lines of systems' own logs that were too many. */
  logsLeftOut: number;
}

export const inputCounters = (): InputCounters => ({
  reports: 0,
  duplicates: 0,
  late: 0,
  rejected: 0,
  unknownDevices: 0,
  messages: 0,
  logsLeftOut: 0,
});

/** Remembers causes by the ids of events, commands and publishes, so that an outsider can name one. */
export class CauseRecords {
  /** The newest, and those before them: to drop one by one would cost more than to keep them twice as long. */
  private known = new Map<string, Cause>();
  private older: ReadonlyMap<string, Cause> = new Map();
  private readonly max = 10_000;

  keep(id: string, cause: Cause): void {
    this.known.set(id, cause);
    if (this.known.size < this.max) return;
    this.older = this.known;
    this.known = new Map();
  }

  /** The cause of what follows from `id` by `by`; an unknown id starts a new root. */
  follow(id: string | undefined, fresh: string, by: Maker, origin: Cause['origin']): Cause {
    const known = id === undefined ? undefined : (this.known.get(id) ?? this.older.get(id));
    return known ? causedBy(known, id as string, by) : rootCause(fresh, origin, by);
  }
}

/** What applying inputs needs beside the core. */
export interface InputParts {
  readonly counters: InputCounters;
  readonly causes: CauseRecords;
  /** Journals what was not applied. */
  onDiscarded(what: 'late' | 'duplicate' | 'rejected', device: string, attribute: string, body: Json): void;
  /** The backend whose mode is the house's, if one owns it, and the device that stands for it. */
  modeOwner(): { backend: string; device: string } | undefined;
  /** The house stands somewhere else than was thought. */
  onPlace(): void;
}

export const statusOf = (core: Core, backend: string): BackendStatus =>
  core.devices.backend(backend) ?? { state: 'offline', ready: false, epoch: 0, since: core.timeline.now() };

/** Applies one report of a backend. */
export function applyReport(core: Core, parts: InputParts, backend: string, report: Report): void {
  parts.counters.reports++;
  if (report.type === 'availability') {
    setAvailability(core, report.device, report.state);
    return;
  }
  if (report.type === 'mode') {
    const owner = parts.modeOwner();
    if (owner?.backend !== backend) return;
    const ready = statusOf(core, backend).ready;
    // The answer to a `set_mode` is by whoever set it.
    const expected = core.gate.expectations.match(owner.device, 'mode', report.mode, core.timeline.now());
    const byItself = rootCause(core.ids(), { kind: 'device', ref: backend }, 'device');
    const cause = expected?.contradicts === false ? expected : byItself;
    setMode(core, report.mode, cause, ready ? 'changed' : 'resync');
    return;
  }
  if (report.type === 'flow') {
    core.raise(keys.flow, {
      kind: 'flow',
      backend,
      device: `${backend}:site:${report.site}`,
      attribute: 'flow',
      value: { site: report.site, ...(report.flow as object) } as Json,
      previous: null,
      quality: 'good',
      change: statusOf(core, backend).ready ? 'reported' : 'resync',
      cause: rootCause('', { kind: 'device', ref: backend }, 'device'),
    });
    return;
  }
  if (report.type === 'place') {
    if (takePlace(core, backend, report)) parts.onPlace();
    return;
  }
  if (report.type === 'log') {
    applyLog(core, backend, report);
    return;
  }
  const device = core.devices.get(report.device);
  if (!device) {
    parts.counters.unknownDevices++;
    return;
  }
  if (report.type === 'event') momentary(core, parts, backend, device, report.name, report);
  else if (device.attributes[report.attribute]?.momentary)
    momentary(core, parts, backend, device, report.attribute, report);
  else value(core, parts, backend, device, report);
}

// Every last value has its cause: what they have in common is made once.
const originOf = memoByObject((device: Device): Cause['origin'] => ({ kind: 'device', ref: device.id }));
const byDevice = (device: Device): Cause => rootCause('', originOf(device), 'device');

/** Counts a value that is none of the declared type; the old one stands. */
function refuse(
  core: Core,
  parts: InputParts,
  device: string,
  attribute: string,
  value: unknown,
  reason: string,
): void {
  parts.counters.rejected++;
  core.log.warn({ device, attribute, reason }, 'a reported value does not fit and was refused');
  parts.onDiscarded('rejected', device, attribute, (value ?? null) as Json);
}

function momentary(
  core: Core,
  parts: InputParts,
  backend: string,
  device: Device,
  name: string,
  report: { value: unknown; id?: string; sourceTime?: number },
): void {
  const status = statusOf(core, backend);
  const id =
    report.id ??
    (report.sourceTime === undefined ? undefined : `${name} ${JSON.stringify(report.value)} ${report.sourceTime}`);
  if (!core.values.isNew(device.id, id)) {
    parts.counters.duplicates++;
    parts.onDiscarded('duplicate', device.id, name, (report.value ?? null) as Json);
    return;
  }
  const coerced = coerce(report.value ?? null, device.attributes[name] ?? { type: 'json' });
  if (!coerced.ok) {
    refuse(core, parts, device.id, name, report.value, coerced.reason);
    return;
  }
  const now = core.timeline.now();
  const { expectations } = core.gate;
  const expected = expectations.match(device.id, name, coerced.value, now);
  expectations.meet(device.id, name, coerced.value, now);
  core.raise(keys.attribute(device.id, name), {
    kind: 'device',
    backend,
    device: device.id,
    attribute: name,
    value: coerced.value,
    previous: null,
    quality: 'good',
    change: status.ready ? 'reported' : 'resync',
    // Another button than the one that was commanded contradicts nothing.
    cause: expected?.contradicts === false ? expected : byDevice(device),
  });
}

function value(core: Core, parts: InputParts, backend: string, device: Device, report: ValueReport): void {
  const { attribute } = report;
  const status = statusOf(core, backend);
  const now = core.timeline.now();
  const declared = device.attributes[attribute];
  const coerced = coerce(report.value, declared ?? { type: 'json' });
  if (!coerced.ok) {
    refuse(core, parts, device.id, attribute, report.value, coerced.reason);
    return;
  }
  const { expectations } = core.gate;
  const expected = expectations.match(device.id, attribute, coerced.value, now, declared?.step);
  const isByPerson = report.by === 'user' && expected?.contradicts !== false;
  const byItself = isByPerson ? rootCause('', { kind: 'user', ref: device.id }, 'user') : byDevice(device);
  const cause = report.cause ?? (isByPerson ? undefined : expected) ?? byItself;
  const applied = core.values.apply(device.id, attribute, { ...report, value: coerced.value }, declared, {
    now,
    seq: 0,
    resync: !status.ready,
    // What is told before readiness already belongs to the epoch that readiness begins.
    epoch: status.ready ? status.epoch : status.epoch + 1,
    cause,
  });
  if (!('reading' in applied)) {
    if (applied.what === 'late') parts.counters.late++;
    else parts.counters.duplicates++;
    parts.onDiscarded(applied.what, device.id, attribute, (report.value ?? null) as Json);
    return;
  }
  const { reading, previous } = applied;
  expectations.meet(device.id, attribute, coerced.value, now, declared?.step);
  const event = core.raise(keys.attribute(device.id, attribute), {
    kind: 'device',
    backend,
    device: device.id,
    attribute,
    value: reading.value,
    previous,
    quality: reading.quality,
    change: applied.what,
    cause,
    ...(declared?.unit !== undefined && { unit: declared.unit }),
  });
  reading.seq = event.seq;
  if (reading.cause === cause) reading.cause = event.cause;
  core.tx.putLazily('state', `${device.id}\n${attribute}`, reading);
}

/** A device goes or comes. */
function setAvailability(core: Core, device: string, state: Availability): void {
  const was = core.devices.availability(device);
  core.devices.setAvailability(device, state);
  tellAvailability(core, device, was);
}

function tellAvailability(
  core: Core,
  device: string,
  was: Availability,
  change: 'changed' | 'resync' = 'changed',
): void {
  const is = core.devices.availability(device);
  if (is === was) return;
  core.raise(keys.availability(device), {
    kind: 'system',
    backend: backendOf(device),
    device,
    attribute: '$availability',
    value: is,
    previous: was,
    quality: 'good',
    change,
    cause: rootCause('', { kind: 'device', ref: device }, 'device'),
  });
}

/** Tells those who look at a device, or at any (`*`), and the sinks that the registry has changed. */
function tellDevice(core: Core, device: string): void {
  core.tx.afterCommit(() => core.sinks.onDevice?.(device));
  for (const key of [keys.device(device), keys.device('*')]) {
    if (!core.signals.has(key)) continue;
    core.raise(key, {
      kind: 'system',
      backend: backendOf(device),
      device,
      attribute: '$device',
      value: null,
      previous: null,
      quality: 'good',
      change: 'resync',
      cause: rootCause('', { kind: 'system' }, 'system'),
    });
  }
}

/** A device is declared, anew or otherwise. */
export function putDevice(core: Core, device: Device): void {
  // A backend that comes back declares all of them anew. Its devices have much in common, those of the store nothing.
  if (jsonEqual(core.devices.get(device.id), device)) {
    core.devices.putEqual(device);
    return;
  }
  const was = core.devices.availability(device.id);
  core.devices.put(device);
  core.tx.putLazily('devices', device.id, device);
  tellDevice(core, device.id);
  tellAvailability(core, device.id, was, 'resync');
}

/** A device is gone for good. */
export function removeDevice(core: Core, id: string): void {
  const was = core.devices.availability(id);
  const attributes = [...(core.values.of(id)?.keys() ?? [])];
  core.devices.remove(id);
  core.values.forget(id);
  core.tx.put('devices', id, undefined);
  for (const attribute of attributes) core.tx.putLazily('state', `${id}\n${attribute}`, undefined);
  tellDevice(core, id);
  tellAvailability(core, id, was);
}

/** Rules that name a backend's devices stand otherwise when it goes or comes. */
function tellRules(core: Core, backend: string): void {
  for (const live of core.rules.values()) {
    if (!namesBackend(core, live.rule, backend)) continue;
    core.tx.afterCommit(() => core.sinks.onRule(live.id, 'status', { ...statusOfRule(core, live) }));
  }
}

/** The connection of a backend changes; its devices go and come with it. */
export function setBackend(core: Core, backend: string, change: Partial<BackendStatus>): void {
  const mine = core.devices.all().filter(device => backendOf(device.id) === backend);
  const was = new Map(mine.map(device => [device.id, core.devices.availability(device.id)]));
  const { reason: _reason, ...old } = statusOf(core, backend);
  const status: BackendStatus = { ...old, since: core.timeline.now(), ...change };
  const wasAway = core.devices.isAway(backend);
  core.devices.setBackend(backend, status);
  core.tx.afterCommit(() => core.sinks.onBackend?.(backend, status));
  if (core.devices.isAway(backend) !== wasAway) tellRules(core, backend);
  for (const [device, availability] of was)
    tellAvailability(core, device, availability, core.isReady() ? 'changed' : 'resync');
}

/** A message of the outside on a topic that some rule looks at. */
export function applyMessage(
  core: Core,
  parts: InputParts,
  message: { topic: string; payload: string; retained: boolean; client: string; cause?: Cause },
): void {
  parts.counters.messages++;
  const now = core.timeline.now();
  const parsed = parseJson(message.payload);
  const payload: Json = parsed === undefined ? message.payload : parsed;
  const named = parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed) ? parsed._cause : undefined;
  const id = core.ids();
  const cause =
    message.cause ??
    parts.causes.follow(typeof named === 'string' ? named : undefined, id, 'mqtt', {
      kind: 'mqtt',
      ref: message.client,
    });
  const previous = core.house.topics.get(message.topic)?.value ?? null;
  const known = { value: payload, lastChanged: now };
  core.house.setTopic(message.topic, known);
  if (core.signals.keepsTopic(message.topic)) core.tx.putLazily('topics', message.topic, known);
  core.raiseTopic(message.topic, {
    id,
    kind: 'input',
    backend: 'mqtt',
    device: message.topic,
    attribute: '',
    value: payload,
    previous,
    quality: 'good',
    change: message.retained ? 'resync' : 'reported',
    cause,
  });
}

/** A request at /hooks/<id>. */
export interface WebhookRequest {
  readonly method: string;
  readonly body: Json;
  readonly query: Json;
  /** Of an event, command or publish of ours that led to it, as the caller says. */
  readonly causeId?: string;
  readonly client: string;
}

/** Tells a request to the rules that listen. */
export function applyWebhook(core: Core, parts: InputParts, id: string, request: WebhookRequest): void {
  const { method, body, query, causeId, client } = request;
  core.raise(keys.webhook(id), {
    kind: 'input',
    backend: 'webhook',
    device: id,
    attribute: method,
    value: { body, query },
    previous: null,
    quality: 'good',
    change: 'reported',
    cause: parts.causes.follow(causeId, core.ids(), 'user', { kind: 'webhook', ref: client }),
  });
}
