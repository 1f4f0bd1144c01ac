// The public face of the gateway on the bus: what is published of the present and of what happens (DESIGN §5). All of
// it is derived; at a start it is built anew and what is stale is cleared.
import { iso } from '../lib/clock.ts';
import type { Command, CommandResult } from '../model/command.ts';
import type { Device } from '../model/device.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';
import type { BackendStatus, Devices } from '../state/devices.ts';
import type { Values } from '../state/values.ts';
import type { Bus } from './bus.ts';
import type { Topics } from './topics.ts';

/** What the face reads. */
export interface FaceParts {
  readonly bus: Bus;
  readonly topics: Topics;
  readonly devices: Devices;
  readonly values: Values;
  /** Runs a call after the present turn (`setImmediate`). */
  readonly later: (call: () => void) => void;
  readonly toWall: (engineTime: number) => number;
}

/** Publishes. All methods are synchronous and never throw. */
export class Face {
  private readonly parts: FaceParts;
  private readonly dirty = new Set<string>();
  private readonly dirtyRules = new Map<string, ((id: string) => object | undefined) | undefined>();
  private isFlushing = false;

  constructor(parts: FaceParts) {
    this.parts = parts;
  }

  private retain(topic: string, payload: Json | object, qos: 0 | 1 = 0): void {
    this.parts.bus.publish(topic, JSON.stringify(payload), { retain: true, qos });
  }

  /** @param encoded the envelope as `codec.encodeEvent` gives it; called only when somebody gets it */
  event(event: Event, encoded: () => string): void {
    const { bus, topics } = this.parts;
    if (event.attribute === '$availability') this.availability(event.device);
    if (event.kind === 'flow') {
      const topic = topics.flow(event.backend, event.device.split(':').at(-1) ?? '');
      if (bus.hasSubscribers(topic)) bus.publish(topic, encoded());
      return;
    }
    if (event.kind !== 'device') return;
    const topic = topics.event(event.device, event.attribute);
    if (bus.hasSubscribers(topic)) bus.publish(topic, encoded());
    if (!this.parts.devices.get(event.device)?.attributes[event.attribute]?.momentary) this.touch(event.device);
  }

  private touch(device: string): void {
    this.dirty.add(device);
    this.flushSoon();
  }

  private flushSoon(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.parts.later(() => {
      this.isFlushing = false;
      const devices = [...this.dirty];
      this.dirty.clear();
      for (const id of devices) this.state(id);
      const rules = [...this.dirtyRules];
      this.dirtyRules.clear();
      for (const [id, state] of rules) this.ruleState(id, state);
    });
  }

  /** What is only made where somebody listens, or looks. */
  private retainLater(topic: string, make: () => Json | object | undefined): void {
    this.parts.bus.retain(topic, () => {
      const payload = make();
      return payload === undefined ? '' : JSON.stringify(payload);
    });
  }

  /** All values of a device, flat; at most once a turn. */
  private state(id: string): void {
    if (!this.parts.values.of(id) || !this.parts.devices.get(id)) return;
    this.retainLater(this.parts.topics.device(id, 'state'), () => this.flat(id));
  }

  private flat(id: string): object | undefined {
    const values = this.parts.values.of(id);
    if (!values || !this.parts.devices.get(id)) return undefined;
    const flat: Record<string, Json> = {};
    let seq = 0;
    let at = 0;
    for (const [attribute, reading] of values) {
      flat[attribute] = reading.quality === 'good' ? reading.value : null;
      if (reading.seq >= seq) ({ seq } = reading);
      at = Math.max(at, reading.lastReported);
    }
    return { ...flat, _: { id, ts: iso(this.parts.toWall(at)), seq } };
  }

  private availability(id: string): void {
    if (!this.parts.devices.get(id)) return;
    this.retain(this.parts.topics.device(id, 'availability'), { state: this.parts.devices.availability(id) });
  }

  /** A device came, changed or went. */
  device(id: string): void {
    const { bus, topics, devices } = this.parts;
    const device = devices.get(id);
    if (!device) {
      for (const what of ['meta', 'state', 'availability'] as const) bus.clear(topics.device(id, what));
      return;
    }
    this.retainLater(topics.device(id, 'meta'), () => {
      const now = devices.get(id);
      return now && this.meta(now);
    });
    this.availability(id);
    this.touch(id);
  }

  private meta(device: Device): object {
    const { devices } = this.parts;
    const alias = devices.aliasOf(device.id);
    const room = devices.roomOf(device);
    return {
      id: device.id,
      name: device.name,
      ...(alias !== undefined && { alias }),
      ...(room !== undefined && { room }),
      capabilities: device.capabilities,
      attributes: device.attributes,
      commands: Object.fromEntries(
        Object.entries(device.commands).map(([name, { args, idempotent }]) => [name, { args, idempotent }]),
      ),
    };
  }

  backend(id: string, status: BackendStatus): void {
    const { state, since, reason } = status;
    this.retain(this.parts.topics.backendState(id), {
      state: state === 'online' && !status.ready ? 'degraded' : state,
      since: iso(this.parts.toWall(since)),
      ...(reason !== undefined && { reason }),
    });
  }

  command(command: Command): void {
    const { bus, topics } = this.parts;
    const topic = topics.command(command.device);
    if (bus.hasSubscribers(topic)) bus.publish(topic, JSON.stringify(command));
  }

  result(result: CommandResult, device: string): void {
    this.parts.bus.publish(this.parts.topics.result(device), JSON.stringify(result), { qos: 1 });
  }

  /**
   * The state of a rule is another one now; told at most once a turn.
   * @param state reads it; undefined where there is no such rule any more
   */
  rule(id: string, state: ((id: string) => object | undefined) | undefined): void {
    this.dirtyRules.set(id, state);
    this.flushSoon();
  }

  private ruleState(id: string, state: ((id: string) => object | undefined) | undefined): void {
    const topic = this.parts.topics.rule(id, 'state');
    const make = () => {
      const now = state?.(id);
      return now ? JSON.stringify(now) : '';
    };
    if (state) this.parts.bus.retain(topic, make);
    else this.parts.bus.clear(topic);
  }

  ruleEvent(id: string, what: string, details: Json | undefined, at: number): void {
    const topic = this.parts.topics.rule(id, 'event');
    if (!this.parts.bus.hasSubscribers(topic)) return;
    this.parts.bus.publish(
      topic,
      JSON.stringify({ event: what, ts: iso(at), ...(details !== undefined && { details }) }),
    );
  }

  guard(notice: object, suspended: readonly string[]): void {
    this.parts.bus.publish(this.parts.topics.guard('event'), JSON.stringify(notice), { qos: 1 });
    this.guardState(suspended);
  }

  guardState(suspended: readonly string[]): void {
    this.retain(this.parts.topics.guard('state'), { suspended });
  }

  mode(value: Json, at: number): void {
    this.retain(this.parts.topics.modeState(), { value, ts: iso(at) });
  }

  variable(name: string, value: Json, at: number): void {
    this.retain(this.parts.topics.variableState(name), { value, ts: iso(at) });
  }

  bridge(state: 'online' | 'offline', boot: string): void {
    this.retain(this.parts.topics.bridgeState(), { state, boot }, 1);
  }

  info(info: object): void {
    this.retain(this.parts.topics.bridgeInfo(), info);
  }

  response(op: string, payload: object): void {
    this.parts.bus.publish(this.parts.topics.response(op), JSON.stringify(payload), { qos: 1 });
  }

  /** Clears retained topics under the root that nothing stands behind any more. */
  clearStale(isCurrent: (topic: string) => boolean): number {
    const { bus, topics } = this.parts;
    const stale = bus.retainedUnder(topics.root).filter(topic => !isCurrent(topic));
    for (const topic of stale) bus.clear(topic);
    return stale.length;
  }
}
