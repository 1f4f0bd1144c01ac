// Publishes all that is derived, anew: at a start, and when an outside broker is reached again. Stale topics are cleared.
import type { Face } from '../bus/face.ts';
import type { Topics } from '../bus/topics.ts';
import type { Engine } from '../engine/engine.ts';
import type { Gateway } from '../ops/gateway.ts';
import { ruleState } from '../ops/show.ts';
import type { Devices } from '../state/devices.ts';
import type { House } from '../state/house.ts';

/** What the present is read from. */
export interface PresentParts {
  readonly gateway: Gateway;
  readonly face: Face;
  readonly topics: Topics;
  readonly devices: Devices;
  readonly house: House;
  readonly engine: Engine;
  readonly suspended: () => string[];
}

/** The state of a rule as views show it. */
export function ruleStateFor(gateway: Gateway, id: string): object | undefined {
  const entry = gateway.rulebook.get(id);
  return entry && ruleState(gateway, entry);
}

/** Publishes what there is, in numbers; again when a device or rule has come or gone. */
export function publishInfo({ gateway, face, devices }: Pick<PresentParts, 'gateway' | 'face' | 'devices'>): void {
  face.info({
    version: gateway.version,
    backends: [...devices.allBackends().keys()],
    devices: devices.all().length,
    rules: gateway.rulebook.list().length,
  });
}

/** Publishes the whole present. */
export function publishPresent({ gateway, face, topics, devices, house, engine, suspended }: PresentParts): void {
  const now = gateway.clock.now();
  const rules = gateway.rulebook.list();
  const current = new Set([topics.bridgeState(), topics.bridgeInfo(), topics.modeState(), topics.guard('state')]);
  for (const [id, status] of devices.allBackends()) {
    face.backend(id, status);
    current.add(topics.backendState(id));
  }
  for (const device of devices.all()) {
    face.device(device.id);
    for (const what of ['meta', 'state', 'availability'] as const) current.add(topics.device(device.id, what));
  }
  for (const entry of rules) {
    face.rule(entry.id, id => ruleStateFor(gateway, id));
    current.add(topics.rule(entry.id, 'state'));
  }
  face.mode(house.mode.value, now);
  for (const [name, { value }] of house.variables) {
    face.variable(name, value, now);
    current.add(topics.variableState(name));
  }
  face.guardState(suspended());
  publishInfo({ gateway, face, devices });
  face.bridge('online', engine.core.boot);
  face.clearStale(topic => current.has(topic));
}
