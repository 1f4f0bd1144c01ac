// A world: the engine itself on a virtual clock, with virtual devices, a store in memory and a bus that is a map. It
// touches nothing real, and the same scenario gives the same runs to the letter.
import type { HouseBackend } from '../backends/house/index.ts';
import { isWorkday } from '../backends/house/workdays.ts';
import { checkRule } from '../engine/analysis/check.ts';
import type { Authority, EngineSinks, LiveRule } from '../engine/core.ts';
import { Engine } from '../engine/engine.ts';
import { GUARD_DEFAULTS } from '../engine/guard.ts';
import type { Rule } from '../engine/rules/schema.ts';
import { skewOf } from '../engine/stored.ts';
import type { Surroundings } from '../engine/view.ts';
import { yieldToIo } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { seededRandom } from '../lib/ids.ts';
import { type Log, silentLog } from '../lib/log.ts';
import { parseStamp } from '../lib/time/clock-time.ts';
import { dayAt } from '../lib/time/zone.ts';
import { VirtualClock } from '../lib/virtual-clock.ts';
import type { BackendSink } from '../model/command.ts';
import type { Finding } from '../model/finding.ts';
import type { Json } from '../model/value.ts';
import { Devices } from '../state/devices.ts';
import { House, type VariableDecl } from '../state/house.ts';
import { Values } from '../state/values.ts';
import { type MemoryStore, memoryStore } from '../store/memory.ts';
import { castOf, type Member } from './cast.ts';
import { initialStore, variablesOf } from './given.ts';
import { Outside, TOPICS } from './outside.ts';
import type { Scenario } from './scenario.ts';
import { elapsedOf, instantOf, type ScenarioTime } from './scenario-time.ts';
import { Seen } from './seen.ts';

/** A rule of the world, as its author wrote it. */
export interface WorldRule {
  readonly body: Json;
  readonly rule: Rule;
  readonly revision: number;
}

/** What a world is made of beside its scenario. */
export interface WorldOptions {
  /** Rules as written and as parsed. */
  readonly rules: readonly { body: Json; rule: Rule }[];
  /** Where the house stands when the scenario does not say. */
  readonly location?: { latitude: number; longitude: number; timezone: string };
  readonly log?: Log;
  /** Where the first life of the engine keeps its records. */
  readonly store?: MemoryStore;
}

/** One life of the engine. */
interface Life {
  readonly engine: Engine;
  readonly house: HouseBackend;
}

const HOME = { latitude: 52.52, longitude: 13.4, timezone: 'Europe/Berlin' };
const START = { wall: Date.UTC(2026, 0, 5) };
const AUTHORITY: Authority = { name: 'scenario', devices: true, house: true, rules: true };
/** Turns at one instant after which something runs in a circle that no guard sees. */
const MAX_TURNS = 200_000;

/** The world of one scenario. */
export class World {
  readonly clock: VirtualClock;
  readonly seen = new Seen();
  readonly outside: Outside;
  readonly rules = new Map<string, WorldRule>();
  readonly scenario: Scenario;
  /** Epoch ms of elapsed time 0. */
  readonly start: number;
  readonly surroundings: Surroundings;
  /** The zone that stamps of the scenario are meant in. */
  readonly zone: string;
  private readonly cast: ReadonlyMap<string, Member>;
  private readonly log: Log;
  private readonly variables: Record<string, VariableDecl>;
  private readonly aliases: Record<string, string>;
  /** Elapsed ms → wall offset, of each step of the wall clock. */
  private readonly offsets: { from: number; offset: number }[];
  private store: MemoryStore;
  private life: Life | undefined;
  private lives = 0;
  /** The engine of the present life, or of the last one. */
  last: Engine | undefined;
  private readonly known = new Set<string>();

  constructor(scenario: Scenario, options: WorldOptions) {
    this.scenario = scenario;
    const place = { ...HOME, ...options.location, ...defined(scenario.location) };
    this.zone = place.timezone;
    this.start = instantOf(scenario.start ?? START, place.timezone);
    this.offsets = [{ from: 0, offset: this.start }];
    this.clock = new VirtualClock(this.start);
    this.log = options.log ?? silentLog;
    const { house } = scenario;
    this.surroundings = {
      zone: place.timezone,
      place,
      root: TOPICS.root,
      periods: house.periods,
      isWorkday: wall => isWorkday(dayAt(wall, this.surroundings.zone), house.workdays),
      scenes: house.scenes as never,
    };
    this.aliases = { ...house.aliases };
    this.cast = castOf(
      scenario,
      options.rules.map(({ body }) => body),
    );
    this.outside = new Outside(this.clock, scenario, this.cast);
    this.variables = variablesOf(scenario);
    this.store = options.store ?? memoryStore();
    for (const { body, rule } of options.rules) this.rules.set(rule.id, { body, rule, revision: 1 });
    for (const id of this.rules.keys()) this.known.add(id);
  }

  /** The engine, while it runs. */
  get engine(): Engine | undefined {
    return this.life?.engine;
  }

  /** @throws BACKEND_OFFLINE while the engine is stopped */
  require(): Engine {
    if (this.life) return this.life.engine;
    throw new CausewayError('BACKEND_OFFLINE', 'the engine is stopped at that time');
  }

  /** Whether there was a rule of this id at the beginning. */
  everHad(rule: string): boolean {
    return this.known.has(rule);
  }

  /** A stamp of the scenario. */
  stamp(text: string): ScenarioTime {
    return parseStamp(text) ?? { offset: 0 };
  }

  live(rule: string): LiveRule | undefined {
    return this.life?.engine.live.get(rule);
  }

  elapsed(time: ScenarioTime): number {
    return elapsedOf(time, this.start, this.zone);
  }

  /** Elapsed ms of a stamp that the engine gave, as the wall stood when it gave it. */
  readonly elapsedAt = (iso: string): number => {
    const wall = Date.parse(iso);
    const now = this.clock.elapsed();
    // The newest stretch of the wall clock in which the stamp makes sense.
    for (const [index, { from, offset }] of [...this.offsets.entries()].reverse()) {
      const until = this.offsets[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      const elapsed = wall - offset;
      if (elapsed >= from && elapsed <= until && elapsed <= now) return elapsed;
    }
    return wall - (this.offsets.at(-1)?.offset ?? this.start);
  };

  resolve(ref: string): string {
    return Object.hasOwn(this.aliases, ref) ? (this.aliases[ref] as string) : ref;
  }

  // --- the life of the engine ----------------------------------------------------------------------------------------

  /** Fills the store with what is given, and starts for the first time. */
  async begin(): Promise<void> {
    await initialStore(this.store, this.scenario, this.start, ref => this.resolve(ref));
    for (const { rule, body, revision } of this.rules.values()) await this.keep(rule.id, revision, body);
    await this.startEngine(0);
    for (const { rule } of this.rules.values()) this.tellFindings(rule.id, this.check(rule));
  }

  /** @param readyMs how long the backends take to tell their snapshots */
  async startEngine(readyMs: number): Promise<void> {
    if (this.life) return;
    const { clock, surroundings, store } = this;
    const devices = new Devices();
    const values = new Values();
    const house = new House();
    let engine: Engine;
    const backends = this.outside.backendsFor({
      devices,
      values,
      now: () => engine.core.timeline.now(),
      seq: () => engine.seq,
    });
    const { tables } = await store.load();
    engine = new Engine(
      {
        clock,
        log: this.log,
        store,
        devices,
        values,
        house,
        backends: backends.all,
        surroundings,
        settings: { guard: GUARD_DEFAULTS, readyTimeoutMs: 0, clockCheckMs: 0, fileAuthority: AUTHORITY },
        sinks: this.sinks(backends.house),
        modeOwner: () => this.modeOwner(),
        deviceBudget: 60,
        // Two lives of one instant must not give the same ids.
        random: seededRandom(this.clock.elapsed() + ++this.lives),
      },
      { skew: skewOf(tables.meta) },
    );
    this.life = { engine, house: backends.house };
    this.last = engine;
    house.declare(this.scenario.house.modes?.names, this.variables, engine.core.timeline.now());
    devices.setNames({ aliases: this.aliases, rooms: this.scenario.house.rooms });
    await engine.start(
      [...this.rules.values()].map(({ rule, revision }) => ({ rule, revision, authority: AUTHORITY })),
      tables,
    );
    this.outside.tellRetained(engine);
    for (const [id, backend] of backends.all) {
      const standIn = this.outside.virtual.get(id);
      if (standIn) standIn.readyAfterMs = readyMs;
      const sink = engine.sink(id);
      await backend.start(id === 'house' ? sink : this.standInSink(id, sink, backends.house));
    }
    await this.settle();
  }

  /** Where a stand-in tells: the house is asked again when it is ready; a mode that it owns comes as such, too. */
  private standInSink(id: string, sink: BackendSink, house: HouseBackend): BackendSink {
    const owner = this.modeOwner();
    return {
      ...sink,
      ready: () => {
        sink.ready();
        this.engine?.turns.push('house', undefined, () => house.settle());
      },
      report: report => {
        sink.report(report);
        const isMode = report.type === 'value' && report.attribute === 'mode' && report.device === owner?.device;
        if (isMode && id === owner?.backend) sink.report({ type: 'mode', mode: String(report.value) });
      },
    };
  }

  private modeOwner(): { backend: string; device: string; command: string } | undefined {
    const { owner } = this.scenario.house.modes ?? {};
    if (owner === undefined || owner === 'own') return undefined;
    return { backend: owner, device: `${owner}:location`, command: 'setMode' };
  }

  /** Ends the engine as a killed process, or one without power, ends. */
  async stopEngine(how: 'kill' | 'power'): Promise<void> {
    const { life } = this;
    if (!life) return;
    life.engine.kill();
    this.life = undefined;
    this.store = this.store.snapshot(how);
    for (const backend of this.outside.virtual.values()) await backend.stop();
    await life.house.stop();
  }

  private sinks(house: HouseBackend): EngineSinks {
    const { seen, outside } = this;
    const now = () => this.clock.elapsed();
    return {
      onEvent: event => house.onEvent(event),
      onTrace: trace => seen.trace(trace, this.elapsedAt),
      onGuard: notice => seen.guard(now(), notice),
      onRule: (rule, what, run) => {
        if (what !== 'started') return;
        const record = this.engine?.runs.get(String(run));
        seen.run(now(), rule, record?.trigger, record?.cause.by);
      },
      onCommand: command => seen.command(now(), command),
      onResult: result => seen.result(result.id, result.outcome, result.error?.code),
      onLog: line => seen.log(now(), line),
      onEffect: (id, effect, cause) => {
        const answer = outside.answer(effect);
        if (effect.type !== 'publish' || answer.outcome === 'ok') seen.effect(now(), effect, cause);
        const engine = this.engine;
        if (effect.type === 'publish' && answer.outcome === 'ok') {
          const { topic, payload, retain } = effect;
          outside.publish(engine, { topic, payload, retain, client: 'causeway', cause });
        }
        engine?.answered(id, answer);
      },
    };
  }

  /** The end of the scenario: runs that go on are seen as they stand. */
  async end(): Promise<void> {
    const { engine } = this;
    if (!engine) return;
    for (const run of engine.runs.all()) this.seen.trace(engine.runs.traceOf(run), this.elapsedAt);
    engine.kill();
  }

  // --- time ----------------------------------------------------------------------------------------------------------

  /** Lets everything that follows at this instant happen. */
  async settle(): Promise<void> {
    const { engine } = this;
    if (!engine) return;
    const began = engine.turns.turns;
    for (;;) {
      const { turns } = engine.turns;
      await engine.idle();
      // Answers of backends come through promises.
      await yieldToIo();
      if (this.engine !== engine || (engine.turns.turns === turns && engine.turns.isIdle)) return;
      if (engine.turns.turns - began > MAX_TURNS)
        throw new CausewayError('INTERNAL', `at ${this.clock.elapsed()} ms something goes round without an end`);
    }
  }

  /** Runs all timers up to a moment (elapsed ms), each with what follows, and ends there. */
  async runTo(elapsed: number): Promise<void> {
    while (this.clock.runNext(elapsed)) await this.settle();
    this.clock.moveTo(elapsed);
  }

  /** Steps the wall clock. */
  async stepClock(deltaMs: number): Promise<void> {
    this.clock.step(deltaMs);
    const offset = (this.offsets.at(-1)?.offset ?? this.start) + deltaMs;
    this.offsets.push({ from: this.clock.elapsed(), offset });
    await this.engine?.do(() => this.engine?.followClock());
  }

  /** What the wall shows, or showed, at a moment; both where it was stepped right then. */
  wallsAt(elapsed: number): number[] {
    const at = this.offsets.filter(({ from }) => from <= elapsed);
    const now = at.at(-1) as { from: number; offset: number };
    const before = now.from === elapsed ? at.at(-2) : undefined;
    return [now, ...(before ? [before] : [])].map(({ offset }) => offset + elapsed);
  }

  // --- rules ---------------------------------------------------------------------------------------------------------

  check(rule: Rule): Finding[] {
    const { devices, house } = this.require().core;
    return checkRule(rule, {
      devices,
      house,
      rules: [...this.rules.values()].map(known => known.rule),
      place: this.surroundings.place,
      periods: Object.keys(this.surroundings.periods),
    });
  }

  tellFindings(rule: string, findings: readonly Finding[]): void {
    for (const finding of findings) this.seen.finding(this.clock.elapsed(), rule, finding);
  }

  /** Puts a rule in force. */
  async put(body: Json, rule: Rule): Promise<void> {
    const engine = this.require();
    const revision = (await this.store.revisions(rule.id, 1))[0]?.revision ?? 0;
    await this.keep(rule.id, revision + 1, body);
    this.rules.set(rule.id, { body, rule, revision: revision + 1 });
    await engine.do(() => engine.rules.update(rule, revision + 1, AUTHORITY));
  }

  /** @throws RULE_NOT_FOUND */
  async delete(id: string): Promise<void> {
    const engine = this.require();
    await engine.do(() => engine.rules.remove(id));
    const revision = this.rules.get(id)?.revision ?? 0;
    await this.keep(id, revision + 1, null);
    this.rules.delete(id);
  }

  private keep(rule: string, revision: number, body: Json): Promise<void> {
    return this.store.addRevision({ rule, revision, body, at: this.clock.now(), author: 'scenario', via: 'simulate' });
  }

  /** A device takes another's place: whatever names the old one means the new one. */
  async replace(old: string, by: string): Promise<void> {
    const engine = this.require();
    for (const [alias, id] of Object.entries(this.aliases)) if (id === old) this.aliases[alias] = by;
    this.aliases[old] = by;
    await engine.do(() => {
      engine.core.devices.setNames({ aliases: this.aliases, rooms: this.scenario.house.rooms });
      engine.reconfigured();
    });
  }
}

const defined = <T extends object>(some: T | undefined): Partial<T> =>
  Object.fromEntries(Object.entries(some ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
