// How things are shown: the same JSON in MCP, REST, CLI and on the bus.
import { z } from 'zod';
import { actions } from '../engine/actions/index.ts';
import { conditions } from '../engine/conditions/index.ts';
import type { LiveRule } from '../engine/core.ts';
import { nextOccurrences } from '../engine/next.ts';
import { statusOf } from '../engine/rule-status.ts';
import type { Entry } from '../engine/rules/rulebook.ts';
import { triggers } from '../engine/triggers/index.ts';
import { iso } from '../lib/clock.ts';
import { formatLocal } from '../lib/time/zone.ts';
import { backendOf, type Device } from '../model/device.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';
import type { Gateway } from './gateway.ts';

/** A rule in a list. */
export const RuleSummary = z.looseObject({
  id: z.string(),
  name: z.string(),
  enabled: z.union([z.boolean(), z.literal('shadow')]),
  status: z.string(),
  revision: z.number(),
});

/** A rule with all that is known of it. */
export const RuleView = z.looseObject({ id: z.string(), revision: z.number(), rule: z.unknown() });

/** The run-time side of a rule, as lists and the bus show it. */
export function ruleState(gateway: Gateway, entry: Entry): z.infer<typeof RuleSummary> {
  const live = gateway.engine.live.get(entry.id);
  const body = (entry.body ?? {}) as { name?: string; enabled?: boolean | 'shadow' };
  const runtime = live?.runtime;
  const { status, reason } = statusFor(gateway, entry, live);
  const isSuspended = runtime?.suspended !== undefined;
  return {
    id: entry.id,
    name: body.name ?? entry.id,
    enabled: isSuspended || !live ? false : (runtime?.override ?? live.rule.enabled ?? true),
    status,
    ...(reason !== undefined && { status_reason: reason }),
    revision: entry.revision,
    runs: runtime?.runs ?? 0,
    refused: runtime?.refused ?? 0,
    failed: runtime?.failed ?? 0,
    ...(runtime?.lastTriggered !== undefined && { last_triggered: runtime.lastTriggered }),
    ...(runtime?.lastRun !== undefined && { last_run: runtime.lastRun }),
    ...(runtime?.lastOutcome !== undefined && { last_outcome: runtime.lastOutcome }),
    ...(runtime?.override !== undefined && { override: runtime.override }),
    ...(live && live.runs.size > 0 && { running: live.runs.size }),
  };
}

function statusFor(gateway: Gateway, entry: Entry, live: LiveRule | undefined): { status: string; reason?: string } {
  const [fault] = entry.faults;
  if (fault)
    return {
      status: 'unavailable',
      reason: `${entry.file}:${fault.line}:${fault.column} ${fault.path ? `${fault.path}: ` : ''}${fault.message}`,
    };
  if (!live) return { status: 'unavailable', reason: 'it is not running yet' };
  return statusOf(gateway.engine.core, live);
}

/** A rule in words: when, if, then. */
export function ruleWords(entry: Entry): Json {
  const { rule } = entry;
  if (!rule) return null;
  return {
    when: rule.triggers.map(trigger => triggers.get(trigger.type).describe(trigger)),
    ...(rule.condition && { if: conditions.get(rule.condition.type).describe(rule.condition) }),
    ...(rule.while && { while: conditions.get(rule.while.type).describe(rule.while) }),
    then: rule.actions.map(step => actions.get(step.type).describe(step)),
  };
}

/** What the clock will start next, trigger by trigger; null where nothing is ahead. */
function nextOf(gateway: Gateway, id: string): Json[] {
  const live = gateway.engine.live.get(id);
  if (!live) return [];
  return live.triggers.flatMap((trigger): Json[] => {
    if (!triggers.get(trigger.config.type).next) return [];
    const [next] = nextOccurrences(trigger, 1);
    if (!next) return [{ trigger: trigger.id, at: null }];
    const note: Record<string, Json> = next.note === undefined ? {} : { note: next.note };
    return [{ trigger: trigger.id, at: iso(next.at), local: formatLocal(next.at, live.view.zone), ...note }];
  });
}

/** A rule with all that is known of it. */
export function showRule(gateway: Gateway, entry: Entry): z.infer<typeof RuleView> {
  const suspended = gateway.engine.live.get(entry.id)?.runtime.suspended;
  return {
    ...ruleState(gateway, entry),
    file: entry.file,
    rule: entry.body,
    words: ruleWords(entry),
    next: nextOf(gateway, entry.id),
    findings: (entry.rule ? gateway.rulebook.findingsOf(entry.rule) : []) as unknown as Json,
    ...(entry.faults.length > 0 && { faults: entry.faults }),
    ...(suspended && { suspended }),
  };
}

/** A device with its values. */
export function showDevice(gateway: Gateway, device: Device): Record<string, Json> {
  const { devices, values, timeline, endings } = gateway.engine.core;
  const ending = endings
    .of(device.id)
    .map(({ command, args, due }) => ({ command, args: { ...args }, at: iso(timeline.toWall(due)) }));
  const alias = devices.aliasOf(device.id);
  const room = devices.roomOf(device);
  const attributes: Record<string, Json> = {};
  for (const name of Object.keys(device.attributes)) {
    const declared = device.attributes[name];
    const reading = values.get(device.id, name);
    attributes[name] = {
      value: reading && reading.quality === 'good' ? reading.value : null,
      type: declared?.type ?? 'json',
      ...(declared?.values && { values: [...declared.values] }),
      ...(declared?.unit !== undefined && { unit: declared.unit }),
      ...(declared?.min !== undefined && { min: declared.min }),
      ...(declared?.max !== undefined && { max: declared.max }),
      ...(declared?.labels && { labels: { ...declared.labels } }),
      ...(declared?.role !== undefined && { role: declared.role }),
      ...(declared?.momentary && { momentary: true }),
      ...(reading && {
        quality: reading.epoch === 0 ? 'unknown' : reading.quality,
        last_changed: iso(timeline.toWall(reading.lastChanged)),
        last_reported: iso(timeline.toWall(reading.lastReported)),
      }),
      ...(reading?.cause && { by: reading.cause.by }),
    };
  }
  return {
    ...summary(gateway, device),
    ...(alias !== undefined && { alias }),
    ...(room !== undefined && { room }),
    attributes,
    commands: Object.fromEntries(
      Object.entries(device.commands).map(([name, command]) => [
        name,
        {
          args: command.args as unknown as Json,
          idempotent: command.idempotent,
          ...(command.ends && { ends: { ...command.ends } }),
        },
      ]),
    ),
    ...(ending.length > 0 && { ending }),
  };
}

function summary(gateway: Gateway, device: Device): Record<string, Json> {
  return {
    id: device.id,
    name: device.name,
    backend: backendOf(device.id),
    capabilities: [...device.capabilities],
    availability: gateway.engine.core.devices.availability(device.id),
  };
}

/** A device in a list: its values flat. */
export function deviceSummary(gateway: Gateway, device: Device): Record<string, Json> {
  const { devices, values } = gateway.engine.core;
  const alias = devices.aliasOf(device.id);
  const room = devices.roomOf(device);
  const state: Record<string, Json> = {};
  for (const [name, reading] of values.of(device.id) ?? [])
    state[name] = reading.quality === 'good' ? reading.value : null;
  return {
    ...summary(gateway, device),
    ...(alias !== undefined && { alias }),
    ...(room !== undefined && { room }),
    state,
  };
}

/** The envelope of an event, instants as ISO 8601. */
export const showEvent = (event: Event): Record<string, Json> =>
  ({ ...event, ts: iso(event.ts) }) as unknown as Record<string, Json>;
