// The world around the engine: stand-ins for the devices of every backend that the scenario names, the house's own
// devices, the broker's retained messages, and who answers notifications and HTTP requests.
import { HouseBackend } from '../backends/house/index.ts';
import { VirtualBackend } from '../backends/virtual/index.ts';
import { topicsOf } from '../bus/topics.ts';
import type { Engine } from '../engine/engine.ts';
import type { Answer, OutgoingEffect } from '../engine/kind.ts';
import { formatDuration } from '../lib/duration.ts';
import type { VirtualClock } from '../lib/virtual-clock.ts';
import type { Cause } from '../model/cause.ts';
import type { Backend, BackendSink } from '../model/command.ts';
import { backendOf, type Device } from '../model/device.ts';
import type { Json } from '../model/value.ts';
import type { Devices } from '../state/devices.ts';
import type { Values } from '../state/values.ts';
import { givenValue, type Member } from './cast.ts';
import type { Scenario } from './scenario.ts';

/** Ids that the gateway's own topics begin with. */
export const TOPICS = topicsOf('causeway');

type HttpAnswer = NonNullable<Scenario['timeline'][number]['http']>;

/** What outlives the engine. */
export class Outside {
  readonly clock: VirtualClock;
  readonly virtual = new Map<string, VirtualBackend>();
  readonly retained = new Map<string, string>();
  private readonly answers = new Map<string, HttpAnswer>();
  private readonly config: Scenario['house'];

  constructor(clock: VirtualClock, scenario: Scenario, cast: ReadonlyMap<string, Member>) {
    this.clock = clock;
    this.config = scenario.house;
    for (const [topic, payload] of Object.entries(scenario.given.retained)) this.retained.set(topic, textOf(payload));
    this.backend('virtual');
    // Flows are told by a console, be there a device of it or not.
    if (scenario.timeline.some(entry => entry.flow)) this.backend('unifi');
    const { owner } = scenario.house.modes ?? {};
    if (owner !== undefined && owner !== 'own') this.backend(owner);
    const { aliases } = scenario.house;
    const given = new Map(
      Object.entries(scenario.given.devices).map(([ref, values]) => [
        Object.hasOwn(aliases, ref) ? aliases[ref] : ref,
        values,
      ]),
    );
    for (const [id, { device, echo }] of cast) {
      if (this.isDerived(id) && !given.has(id)) continue;
      const values = Object.entries(given.get(id) ?? {}).map(([attribute, entry]) => [
        attribute,
        givenValue(entry).value,
      ]);
      this.backend(backendOf(id)).adopt(device, {
        echo: echo === undefined ? 'none' : { after: formatDuration(echo) },
        values: Object.fromEntries(values),
      });
    }
  }

  private backend(id: string): VirtualBackend {
    let backend = this.virtual.get(id);
    if (!backend) this.virtual.set(id, (backend = new VirtualBackend({ clock: this.clock, id })));
    return backend;
  }

  /** A device that house.yaml makes of others. */
  private isDerived(id: string): boolean {
    if (backendOf(id) !== 'house') return false;
    const name = id.slice('house:'.length);
    const { people, groups } = this.config;
    if (Object.hasOwn(people, name) || Object.hasOwn(groups, name) || name === 'notify') return true;
    return (name === 'anyone' || name === 'everyone') && Object.keys(people).length > 0;
  }

  /** Who stands in for a device. @throws DEVICE_NOT_FOUND by what is then asked of it */
  of(id: string): VirtualBackend {
    return this.backend(backendOf(id));
  }

  /** What a device is now, whether it could tell or not. */
  has(id: string): boolean {
    return this.virtual.get(backendOf(id))?.has(id) ?? false;
  }

  /** The backends of one life of the engine. */
  backendsFor(parts: { devices: Devices; values: Values; now: () => number; seq: () => number }): {
    all: Map<string, Backend>;
    house: HouseBackend;
  } {
    const { people, groups } = this.config;
    const house = new HouseBackend({ ...parts, clock: this.clock, config: { people, groups } as never });
    const all = new Map<string, Backend>(this.virtual);
    const standIns = this.virtual.get('house');
    all.set('house', standIns ? besides(house, standIns) : house);
    return { all, house };
  }

  setHttp(answer: HttpAnswer): void {
    this.answers.set(answer.url, answer);
  }

  /** What an effect comes to; undefined where nothing answers. */
  answer(effect: OutgoingEffect): Answer {
    if (effect.type === 'publish' && TOPICS.isOurs(effect.topic)) {
      const message = `${effect.topic} is one of the gateway’s own topics`;
      return { outcome: 'failed', error: { code: 'FORBIDDEN', message } };
    }
    if (effect.type !== 'http') return { outcome: 'ok' };
    const { status, headers, body } = this.answers.get(effect.url) ?? { status: 200, headers: {}, body: '' };
    const bind = { status, headers, body } as Json;
    if (status >= 200 && status < 300) return { outcome: 'ok', bind };
    return {
      outcome: 'failed',
      bind,
      error: { code: 'BACKEND_REJECTED', message: `${effect.url} answered ${status}` },
    };
  }

  /** A message reaches the broker; rules that listen get it. */
  publish(
    engine: Engine | undefined,
    message: { topic: string; payload: string; retain: boolean; client: string; cause?: Cause },
  ): void {
    const { topic, payload, retain, client, cause } = message;
    if (retain && payload === '') this.retained.delete(topic);
    else if (retain) this.retained.set(topic, payload);
    engine?.message({ topic, payload, retained: false, client, ...(cause && { cause }) });
  }

  /** What the broker tells to a client that subscribes. */
  tellRetained(engine: Engine): void {
    for (const [topic, payload] of this.retained)
      engine.message({ topic, payload, retained: true, client: 'retained' });
  }
}

/** A payload as it goes over the wire: text as it is, all else as JSON. */
export const textOf = (payload: Json): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));

/** The house's derived devices and stand-ins of the same backend as one backend. */
function besides(house: HouseBackend, standIns: VirtualBackend): Backend {
  const waiting = new Set<string>();
  const part = (name: string, sink: BackendSink, lists: Map<string, readonly Device[]>): BackendSink => ({
    ...sink,
    devices(devices) {
      lists.set(name, devices);
      // A stand-in has the word over what house.yaml would make of others.
      const own = new Set(standIns.list().map(device => device.id));
      const all = [...lists].flatMap(([of, some]) =>
        of === 'house' ? some.filter(device => !own.has(device.id)) : some,
      );
      sink.devices(all);
    },
    device: device => (name === 'house' && standIns.has(device.id) ? undefined : sink.device(device)),
    report(report) {
      const isCovered =
        name === 'house' && 'device' in report && report.device !== undefined && standIns.has(report.device);
      if (!isCovered) sink.report(report);
    },
    ready() {
      waiting.delete(name);
      if (waiting.size === 0) sink.ready();
    },
  });
  return {
    id: 'house',
    kind: 'house',
    async start(sink) {
      const lists = new Map<string, readonly Device[]>();
      waiting.add('house').add('stand-ins');
      await standIns.start(part('stand-ins', sink, lists));
      await house.start(part('house', sink, lists));
    },
    async stop() {
      await standIns.stop();
      await house.stop();
    },
    execute: (command, signal) =>
      standIns.has(command.device) ? standIns.execute(command, signal) : house.execute(command),
    test: () => house.test(),
  };
}
