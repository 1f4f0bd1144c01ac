// The demo: a virtual house in a data folder of its own, with copies of the example rules and a generated past week.
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { backendKinds } from '../backends/index.ts';
import {
  DEMO_HOUSE_YAML,
  type DemoHouse,
  demoHouse,
  furnish,
  pastEvents,
  runDemo,
} from '../backends/virtual/demo/index.ts';
import type { VirtualBackend } from '../backends/virtual/index.ts';
import { encodeEvent } from '../bus/codec.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Gateway } from '../ops/gateway.ts';
import type { SimulatedSystem } from './simulators.ts';

const SEED = 20;
const BERLIN = { latitude: 52.52, longitude: 13.4 };
const ZONE = 'Europe/Berlin';
const WEEK_MS = 7 * 86_400_000;

/** The demo house, ready to be started. */
export interface DemoHome {
  readonly config: Config;
  readonly house: typeof DEMO_HOUSE_YAML;
  readonly demo: DemoHouse;
  /** Plays it on the backend that was furnished; returns what ends it. */
  play(virtual: VirtualBackend): () => void;
}

/**
 * Makes the folder, with copies of the example rules where there are none yet.
 * @param simulated systems that it bridges: a house with them is another one, in a folder of its own
 */
export function demoHome({
  config,
  clock,
  examples,
  simulated = [],
}: {
  config: Config;
  clock: Clock;
  examples: string;
  simulated?: readonly SimulatedSystem[];
}): DemoHome {
  const dir = join(config.data.dir, ['demo', ...simulated.map(({ backend }) => backend.type)].join('-'));
  const rules = join(dir, 'rules');
  mkdirSync(rules, { recursive: true });
  const isFresh = readdirSync(rules).length === 0;
  if (isFresh && existsSync(examples)) cpSync(examples, rules, { recursive: true });
  if (isFresh) {
    for (const [file, rule] of simulated.flatMap(system => Object.entries(system.rules)))
      writeFileSync(join(rules, file), stringify(rule));
  }
  const bridged = simulated.map(({ backend }) => [backend.type, backendKinds.get(backend.type).schema.parse(backend)]);
  const { latitude = BERLIN.latitude, longitude = BERLIN.longitude, timezone = ZONE } = config.location;
  const demo = demoHouse({ seed: SEED, place: { latitude, longitude }, zone: timezone });
  return {
    config: {
      ...config,
      data: { ...config.data, dir },
      rules: { ...config.rules, dir: rules },
      // Those of config.yaml are real, and the demo touches nothing real.
      backends: Object.fromEntries(bridged) as Config['backends'],
      location: { ...config.location, latitude, longitude, timezone },
    },
    house: DEMO_HOUSE_YAML,
    demo,
    play: virtual => runDemo(virtual, clock, demo),
  };
}

/** Furnishes the house, and writes its past week into an empty journal. */
export async function furnishDemo(
  { demo }: DemoHome,
  { virtual, gateway }: { virtual: VirtualBackend; gateway: Gateway },
  clock: Clock,
): Promise<void> {
  const now = clock.now();
  furnish(virtual, demo, now);
  if ((await gateway.journal.days()).length > 0) return;
  let seq = 0;
  for (const event of pastEvents(demo, now - WEEK_MS, now)) {
    gateway.journal.append({
      ts: event.ts,
      seq: ++seq,
      kind: 'event',
      subject: event.device,
      attribute: event.attribute,
      body: encodeEvent(event),
    });
  }
  await gateway.journal.flush();
}
