// The product as it is measured: compiled, with its own broker, journal and traces on, and with generated rules.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as exchanges from './exchange.ts';
import { type Child, freePort, startChild, startProgram } from './processes.ts';

/** A product that runs. */
export interface Gateway extends Child {
  /** Its MQTT port. */
  readonly mqtt: number;
  /** When it was started, epoch ms. */
  readonly startedAt: number;
}

// A bench runs each rule more often than any house does, and means it.
const BUSY = { limits: { runs: 100_000, per: '2s' } };

/** A message of the outside, under a condition, makes it publish another. */
const messageRule = (i: number) => {
  const { inPrefix, outPrefix, outPayload, field, value } = exchanges.message;
  return {
    id: `lamp-${i}`,
    name: `Lamp ${i} on its button`,
    ...BUSY,
    triggers: [{ type: 'mqtt', topic: inPrefix + i, path: field, is: value }],
    condition: { type: 'mode', is: 'home' },
    actions: [{ type: 'publish', topic: outPrefix + i, payload: outPayload(i) }],
  };
};

/** The button of a device makes it command a lamp. */
const deviceRule = (i: number) => ({
  id: `lamp-${i}`,
  name: `Lamp ${i} on its button`,
  ...BUSY,
  triggers: [{ type: 'event', device: `virtual:button-${i}`, name: 'pushed', value: 1 }],
  condition: { type: 'mode', is: 'home' },
  actions: [{ type: 'command', device: `virtual:lamp-${i}`, command: 'on' }],
});

/** Writes a house with so many rules into a folder; returns its config.yaml. JSON is YAML, and quickly written. */
function writeHouse(dir: string, rules: number, rule: (i: number) => object, mqttPort: number): string {
  mkdirSync(join(dir, 'rules'), { recursive: true });
  for (let i = 0; i < rules; i++) {
    const { limits, triggers, condition, actions, ...head } = rule(i) as Record<string, unknown>;
    const lines = Object.entries({ schema: 1, ...head, limits, triggers, condition, actions });
    // As people write them: block style above, flow style for the small things.
    const text = lines.map(([key, value]) =>
      Array.isArray(value)
        ? `${key}:\n${value.map(each => `  - ${JSON.stringify(each)}\n`).join('')}`
        : `${key}: ${JSON.stringify(value)}\n`,
    );
    writeFileSync(join(dir, 'rules', `lamp-${i}.yaml`), text.join(''));
  }
  const config = {
    http: { port: 0 },
    mqtt: { port: mqttPort },
    data: { dir: 'data' },
    rules: { dir: 'rules' },
    guard: { device_commands: 10_000 },
    log: { level: 'warn' },
  };
  const file = join(dir, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Starts the real program over a house of message rules. It is ready when the first rule answers (`first` of the driver). */
export async function startGateway(dist: string, dir: string, rules: number): Promise<Gateway> {
  const mqtt = await freePort();
  const config = writeHouse(dir, rules, messageRule, mqtt);
  const startedAt = Date.now();
  const child = startProgram(join(dist, 'src/main.js'), ['serve', '--config', config], dir);
  return { ...child, mqtt, startedAt };
}

/** A product inside a process that the bench can look into; see host.ts. */
export interface Host extends Child {
  readonly mqtt: number;
  /** Where reports of devices go in. */
  readonly door: number;
}

/** Starts the product inside a host, over a house of message rules, or of devices with theirs. */
export async function startHost(dist: string, dir: string, rules: number, kind: 'message' | 'device'): Promise<Host> {
  const mqtt = await freePort();
  const config = writeHouse(dir, rules, kind === 'message' ? messageRule : deviceRule, mqtt);
  const child = startChild('./host.ts', [dist, config], ['--expose-gc']);
  const { door } = await child.ask<{ door: number }>({ do: 'start', devices: kind === 'device' ? rules : 0 });
  return { ...child, mqtt, door };
}
