// The entries of a timeline: what each of them does to a world.

import { setHouseVariable, setMode } from '../engine/house-changes.ts';
import { demandRun } from '../engine/operations.ts';
import { parseRule } from '../engine/rules/schema.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import { mergePatch } from '../lib/json.ts';
import { parseStamp } from '../lib/time/clock-time.ts';
import { type Maker, rootCause } from '../model/cause.ts';
import type { Finding } from '../model/finding.ts';
import type { Json } from '../model/value.ts';
import { carryOut } from './bus-inputs.ts';
import { TOPICS, textOf } from './outside.ts';
import { ENTRY_KINDS, type Entry, type EntryKind } from './scenario.ts';
import { instantOf, type ScenarioTime } from './scenario-time.ts';
import type { World } from './world.ts';

type Doing = { [K in EntryKind]: (world: World, what: NonNullable<Entry[K]>) => Promise<void> | void };

/** What an entry does, by its key. */
const kindOfEntry = (entry: Entry): EntryKind => ENTRY_KINDS.find(kind => entry[kind] !== undefined) as EntryKind;

/** Does what an entry says. @throws CausewayError for what cannot be done */
export async function apply(world: World, entry: Entry): Promise<void> {
  const kind = kindOfEntry(entry);
  await (doing[kind] as (world: World, what: unknown) => Promise<void> | void)(world, entry[kind]);
}

const causeOf = (world: World, by: Maker) =>
  rootCause(
    world.require().core.ids(),
    { kind: by === 'mqtt' || by === 'user' || by === 'system' ? by : 'device' },
    by,
  );

const doing: Doing = {
  set(world, values) {
    for (const [ref, attributes] of Object.entries(values)) {
      const id = world.resolve(ref);
      for (const [attribute, value] of Object.entries(attributes)) world.outside.of(id).setValue(id, attribute, value);
    }
  },
  event(world, { device, name, value, id, sourceTime }) {
    const ref = world.resolve(device);
    world.outside.of(ref).report({
      type: 'event',
      device: ref,
      name,
      value: value ?? null,
      ...(id !== undefined && { id }),
      ...(sourceTime !== undefined && { sourceTime: stampOf(world, sourceTime) }),
    });
  },
  report(world, { device, sourceTime, ...report }) {
    const ref = world.resolve(device);
    world.outside.of(ref).report({
      ...report,
      type: 'value',
      device: ref,
      value: report.value,
      ...(sourceTime !== undefined && { sourceTime: stampOf(world, sourceTime) }),
    });
  },
  unavailable: (world, refs) => setAvailable(world, refs, false),
  available: (world, refs) => setAvailable(world, refs, true),
  async mqtt(world, { topic, payload, retain, client }) {
    const input = TOPICS.parseInput(topic);
    // A retained one on an input topic is dropped (DESIGN §5).
    if (input) {
      if (!retain) await byOutsider(world, topic, carryOut(world.require(), input, textOf(payload), client));
      return;
    }
    if (TOPICS.isOurs(topic)) throw new CausewayError('FORBIDDEN', `${topic} is no input of the gateway`);
    world.outside.publish(world.engine, { topic, payload: textOf(payload), retain, client });
  },
  async mode(world, mode) {
    const { core, turns } = world.require();
    core.house.checkMode(mode);
    await turns.do(() => setMode(core, mode, causeOf(world, 'user')));
  },
  async variable(world, { name, value }) {
    const { core, turns } = world.require();
    await turns.do(() => setHouseVariable(core, name, { value }, causeOf(world, 'user')));
  },
  webhook(world, { id, body, query, method }) {
    world.require().webhook(id, { method, body, query, client: 'outside' });
  },
  flow(world, { site, ...flow }) {
    world.outside.virtual.get('unifi')?.report({ type: 'flow', site, flow: flow as Json });
  },
  async command(world, { device, command, args, by }) {
    const { core, turns } = world.require();
    const request = {
      device: world.resolve(device),
      command,
      args: args as Json | undefined,
      cause: causeOf(world, by),
    };
    const said = await turns.do(() => core.gate.submit(core.tx, request));
    if (said.error) world.seen.notes.push(`${device} ${command} did not pass the gate: ${said.error.message}`);
  },
  stop: (world, how) => world.stopEngine(how === 'power' ? 'power' : 'kill'),
  start: (world, how) => world.startEngine(how === true ? 0 : how.ready),
  save: (world, body) => save(world, body as Json),
  async patch(world, patch) {
    const known = world.rules.get(patch.id);
    if (!known) throw new CausewayError('RULE_NOT_FOUND', `there is no rule "${patch.id}" to patch`);
    await save(world, mergePatch(known.body, patch as Json));
  },
  enable: (world, id) => world.require().do(() => world.require().rules.override(id, true)),
  disable: (world, id) => world.require().do(() => world.require().rules.override(id, false)),
  resume: (world, id) => world.require().do(() => world.require().rules.resume(id)),
  delete: (world, id) => world.delete(id),
  async run(world, { rule, args }) {
    const engine = world.require();
    await engine.do(() =>
      demandRun(engine, 'run', { rule, args: args as Record<string, Json>, cause: causeOf(world, 'user') }),
    );
  },
  panic: (world, isOn) => world.require().do(() => world.require().setPanic(isOn)),
  rename(world, { id, label }) {
    const ref = world.resolve(id);
    world.outside.of(ref).renameDevice(ref, label);
  },
  remove(world, refs) {
    for (const ref of refs) world.outside.of(world.resolve(ref)).deleteDevice(world.resolve(ref));
  },
  replace: (world, { old, new: by }) => world.replace(old, world.resolve(by)),
  clock: (world, deltaMs) => world.stepClock(deltaMs),
  async timezone(world, zone) {
    world.surroundings.zone = zone;
    const { engine } = world;
    await engine?.do(() => engine.reconfigured());
  },
  fail(world, { device, error, answerAfter, until }) {
    const ref = world.resolve(device);
    const end = until === undefined ? {} : { until: world.elapsed(until as ScenarioTime) };
    const how = error !== undefined ? { error } : answerAfter !== undefined ? { answerAfter } : { hang: true as const };
    world.outside.of(ref).fail(ref, { ...how, ...end });
  },
  answer: (world, { tag, value }) => world.require().personAnswered(tag, value, 'person'),
  http: (world, answer) => world.outside.setHttp(answer),
};

// What the gateway refuses an outsider is told to nobody; a scenario that waits for it sees why nothing came of it.
async function byOutsider(world: World, topic: string, done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    world.seen.notes.push(`${topic} was refused: ${asCausewayError(error).message}`);
  }
}

function setAvailable(world: World, refs: readonly string[], isAvailable: boolean): void {
  for (const ref of refs) {
    const id = world.resolve(ref);
    world.outside.of(id).setAvailable(id, isAvailable);
  }
}

function stampOf(world: World, text: string): number {
  const stamp = parseStamp(text);
  if (stamp) return instantOf(stamp, world.zone);
  throw new CausewayError('INPUT_INVALID', `sourceTime "${text}" is no stamp; write 2026-01-05T10:00:00Z`);
}

/** Saves a rule as an author would: what is wrong with it refuses the save. */
async function save(world: World, body: Json): Promise<void> {
  const at = world.clock.elapsed();
  const { id = '' } = (body ?? {}) as { id?: string };
  const rejected = (paths: string[], message: string, findings: readonly Finding[]) =>
    world.seen.saves.push({ at, id, outcome: 'rejected', code: 'RULE_INVALID', paths, message, findings });
  world.require();
  const parsed = parseRule(body);
  if ('issues' in parsed) {
    const [first] = parsed.issues;
    rejected(
      parsed.issues.map(issue => issue.path),
      first ? `${first.path}: ${first.message}` : '',
      [],
    );
    return;
  }
  const findings = world.check(parsed.rule);
  const errors = findings.filter(finding => finding.severity === 'error');
  world.tellFindings(parsed.rule.id, findings);
  if (errors.length > 0) {
    const [first] = errors as [Finding];
    rejected(
      errors.map(error => error.path),
      `${first.path}: ${first.message}`,
      findings,
    );
    return;
  }
  await world.put(body, parsed.rule);
  world.seen.saves.push({ at, id, outcome: 'accepted', code: undefined, paths: [], message: undefined, findings });
}

/** A line about an entry that could not be done. */
export const troubleOf = (index: number, entry: Entry, error: unknown): string => {
  const { message, hint } = asCausewayError(error);
  return `timeline/${index}/${kindOfEntry(entry)}: ${message}${hint ? `; ${hint}` : ''}`;
};
