// Whether what a scenario expects has come true, and if not, what was seen nearest to it.
import { formatDuration } from '../lib/duration.ts';
import { formatLocal } from '../lib/time/zone.ts';
import type { Json } from '../model/value.ts';
import { matches, show } from './match.ts';
import type { Sample } from './samples.ts';
import { type Expect, kindOf, type SeenKind } from './scenario-expect.ts';
import { found, type Sighting, sightingsOf } from './sightings.ts';
import type { World } from './world.ts';

/** One line for each part of an expectation that does not hold; none when it does. */
export function judge(world: World, expectation: Expect, sample: Sample | undefined): string[] {
  if (expectation.next) return ofNext(world, expectation, sample);
  if (expectation.rule !== undefined) return ofRule(world, expectation, sample);
  if (expectation.no) return ofNone(world, expectation);
  const kind = kindOf(expectation);
  return kind ? ofSome(world, expectation, kind) : ofEnd(world, expectation);
}

/** A moment in words: `1h30m (2026-01-05T01:30:00+01:00)`. */
const moment = (world: World, elapsed: number): string =>
  `${formatDuration(elapsed)} (${formatLocal(world.wallsAt(elapsed)[0] as number, world.surroundings.zone)})`;

type Window = { from: number; to: number; words: string };

function windowOf(world: World, { at, within, tolerance = 0 }: Expect): Window | undefined {
  if (at !== undefined) {
    const when = world.elapsed(at);
    return { from: when - tolerance, to: when + tolerance, words: `at ${moment(world, when)}` };
  }
  if (!within) return undefined;
  const [from, to] = [world.elapsed(within[0]), world.elapsed(within[1])];
  // Half-open: what happens at its end is outside. Moments are whole milliseconds.
  return { from, to: to - 1, words: `from ${moment(world, from)} until ${moment(world, to)}` };
}

const wanted = (expectation: Expect | NonNullable<Expect['no']>, kind: SeenKind): string => {
  const { save, path, code, finding } = expectation;
  if (kind === 'save') return `save ${show({ save, path, code, finding })}`;
  return `${kind} ${show(expectation[kind])}`;
};

function ofSome(world: World, expectation: Expect, kind: SeenKind): string[] {
  const window = windowOf(world, expectation);
  const sightings = sightingsOf(world, kind);
  const fit = sightings.filter(sighting => found(world, expectation, kind, sighting));
  const then = window ? fit.filter(sighting => isIn(sighting, window, expectation.at !== undefined)) : fit;
  const { count } = expectation;
  const where = window ? `${window.words} ` : '';
  if (count !== undefined) {
    if (then.length === count) return [];
    return [`${where}expected ${count} × ${wanted(expectation, kind)}, saw ${then.length}${listed(world, then)}`];
  }
  if (then.length > 0) return [];
  return [
    `${where}expected ${wanted(expectation, kind)}; ${nearest(world, expectation, kind, sightings, fit, window)}`,
  ];
}

function ofNone(world: World, expectation: Expect): string[] {
  const no = expectation.no as NonNullable<Expect['no']>;
  const kind = kindOf(no) as SeenKind;
  const window = windowOf(world, expectation);
  const fit = sightingsOf(world, kind).filter(sighting => found(world, no, kind, sighting));
  const then = window ? fit.filter(sighting => isIn(sighting, window, false)) : fit;
  if (then.length === 0) return [];
  return [
    `${window ? `${window.words} ` : ''}expected no ${wanted(no, kind)}, saw ${then.length}${listed(world, then)}`,
  ];
}

/** A run is there when it is triggered, when it starts and when it ends; where things are counted, when it is triggered. */
const isIn = ({ at, also }: Sighting, { from, to }: Window, isLoose: boolean): boolean =>
  [at, ...(isLoose ? also : [])].some(one => one >= from && one <= to);

function listed(world: World, sightings: readonly Sighting[]): string {
  if (sightings.length === 0) return '';
  const some = sightings.slice(0, 5).map(sighting => `at ${moment(world, sighting.at)} ${show(sighting.fields)}`);
  return `: ${some.join('; ')}${sightings.length > 5 ? `; and ${sightings.length - 5} more` : ''}`;
}

function nearest(
  world: World,
  expectation: Expect,
  kind: SeenKind,
  all: readonly Sighting[],
  fit: readonly Sighting[],
  window: Window | undefined,
): string {
  const distance = ({ at }: Sighting) =>
    !window ? 0 : at < window.from ? window.from - at : Math.max(0, at - window.to);
  const byDistance = (some: readonly Sighting[]) => [...some].sort((a, b) => distance(a) - distance(b))[0];
  const alike = (sighting: Sighting) =>
    Object.entries((expectation[kind] ?? {}) as object).filter(([key, want]) => matches(want, sighting.fields[key]))
      .length;
  const most = Math.max(0, ...all.map(alike));
  const near = byDistance(fit) ?? byDistance(all.filter(sighting => alike(sighting) === most));
  if (!near) return `there was no ${kind} at all`;
  return `seen nearest: at ${moment(world, near.at)} ${kind} ${show(near.fields)}`;
}

function ofRule(world: World, expectation: Expect, sample: Sample | undefined): string[] {
  const { rule = '', runs, refused, reason, status, lastTriggered, lastRun, at } = expectation;
  const isKnown = world.rules.has(rule) || world.seen.saves.some(save => save.id === rule) || world.everHad(rule);
  if (!isKnown) return [`there is no rule "${rule}"`];
  const until = at === undefined ? Number.POSITIVE_INFINITY : world.elapsed(at);
  const lines: string[] = [];
  const say = (field: string, want: unknown, seen: unknown) =>
    lines.push(`rule ${rule}: expected ${field} ${String(want)}, saw ${String(seen)}`);
  const started = world.seen.runs.filter(run => run.fields.rule === rule && run.at <= until);
  if (runs !== undefined && started.length !== runs)
    say('runs', runs, `${started.length}${listed(world, started.map(bare))}`);
  const refusals = [...world.seen.traces.values()].filter(
    ({ trace, at: when }) => trace.rule === rule && trace.outcome === 'refused' && when <= until,
  );
  const meant = refusals.filter(({ trace }) => reason === undefined || trace.reason === reason);
  if (refused !== undefined && meant.length !== refused) {
    const seen = refusals.map(({ trace, at: when }) => ({
      at: when,
      also: [],
      fields: { reason: trace.reason, note: trace.note },
    }));
    say(`refused${reason === undefined ? '' : ` (${reason})`}`, refused, `${meant.length}${listed(world, seen)}`);
  } else if (refused === undefined && reason !== undefined && meant.length === 0) say('a refusal by', reason, 'none');
  if (status !== undefined && sample?.status?.status !== status)
    say(
      'status',
      status,
      `${sample?.status?.status ?? 'none'}${sample?.status?.reason ? ` (${sample.status.reason})` : ''}`,
    );
  for (const [field, want] of [
    ['lastTriggered', lastTriggered],
    ['lastRun', lastRun],
  ] as const) {
    if (want === undefined) continue;
    const seen = sample?.[field];
    const isRight = want === null ? seen === undefined : seen === world.elapsed(want);
    if (!isRight)
      say(
        field,
        want === null ? 'never' : moment(world, world.elapsed(want)),
        seen === undefined ? 'never' : moment(world, seen),
      );
  }
  return lines;
}

const bare = ({ at }: { at: number }): Sighting => ({ at, also: [], fields: {} });

function ofNext(world: World, expectation: Expect, sample: Sample | undefined): string[] {
  const { rule, trigger = 't1', is } = expectation.next as NonNullable<Expect['next']>;
  const when = expectation.at === undefined ? 'at the end' : `at ${moment(world, world.elapsed(expectation.at))}`;
  const what = `${when} expected next of ${rule}/${trigger} to be`;
  if (!sample?.next) return [`${what} ${show(is)}; there is no such trigger then`];
  const want = (is === null ? [] : [is].flat()).map(text => world.start + world.elapsed(world.stamp(text)));
  const seen = sample.next.slice(0, Math.max(1, want.length));
  const { tolerance = 0 } = expectation;
  const isRight =
    is === null
      ? seen.length === 0
      : want.every((at, index) => Math.abs(at - (seen[index] ?? Number.NaN)) <= tolerance);
  if (isRight) return [];
  const shown = seen.map(at => new Date(at).toISOString());
  return [`${what} ${is === null ? 'none' : [is].flat().join(', ')}, saw ${shown.length ? shown.join(', ') : 'none'}`];
}

function ofEnd(world: World, { state, variables, mode }: Expect): string[] {
  const core = world.last?.core;
  if (!core) return ['the engine never ran'];
  const lines: string[] = [];
  for (const [ref, attributes] of Object.entries(state ?? {})) {
    const id = world.resolve(ref);
    for (const [attribute, want] of Object.entries(attributes)) {
      const reading = core.values.get(id, attribute);
      const last = reading?.quality === 'good' ? reading.value : null;
      const isReachable = core.devices.availability(id) === 'online';
      const step = core.devices.get(id)?.attributes[attribute]?.step;
      if (fits(want, last, step) || (!isReachable && want === null)) continue;
      lines.push(
        `at the end expected ${ref} ${attribute} ${show(want)}, is ${show(last)}${isReachable ? '' : ' (not reachable)'}`,
      );
    }
  }
  for (const [name, want] of Object.entries(variables ?? {})) {
    const value = core.house.variables.get(name)?.value;
    if (!matches(want, value)) lines.push(`at the end expected the variable ${name} ${show(want)}, is ${show(value)}`);
  }
  if (mode !== undefined && core.house.mode.value !== mode)
    lines.push(`at the end expected the mode ${show(mode)}, is ${show(core.house.mode.value)}`);
  return lines;
}

const fits = (want: Json, is: Json, step = 0): boolean =>
  typeof want === 'number' && typeof is === 'number'
    ? Math.abs(want - is) <= Math.max(step / 2, 1e-9 * Math.abs(want))
    : matches(want, is);
