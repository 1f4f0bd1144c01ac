// Devices that ioBroker's type detector knows, at a real ioBroker: what a canonical command promises is what is told of the
// device afterwards, whatever its states are made of.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ArgumentDecl } from '../../../src/model/capability.ts';
import { type Json, valuesEqual } from '../../../src/model/value.ts';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { commandTo, patience } from '../../unit/backends/kit.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';

vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

type States = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const on = { type: 'boolean', role: 'switch.light' };
const percent = { type: 'number', role: 'level.dimmer', min: 0, max: 100, unit: '%' };

/** A device as adapters make them, by what it is. */
const DEVICES: Readonly<Record<string, States>> = {
  socket: { state: { type: 'boolean', role: 'switch' } },
  light: { on },
  'dimmer of percent': { on, level: percent },
  'dimmer to 254': { on, level: { ...percent, max: 254, unit: undefined } },
  'dimmer to 255, without a switch': { level: { ...percent, max: 255, unit: undefined } },
  'dimmer to 1': { on, level: { ...percent, max: 1, unit: undefined } },
  'white in kelvin': {
    on,
    level: percent,
    ct: { type: 'number', role: 'level.color.temperature', min: 2_200, max: 6_500, unit: 'K' },
  },
  'white in mireds': {
    on,
    level: percent,
    ct: { type: 'number', role: 'level.color.temperature', min: 153, max: 500, unit: 'mired' },
  },
  'colour of hue': {
    on,
    level: percent,
    hue: { type: 'number', role: 'level.color.hue', min: 0, max: 360 },
    saturation: { type: 'number', role: 'level.color.saturation', min: 0, max: 100 },
  },
  'colour of rgb text': { on, level: percent, rgb: { type: 'string', role: 'level.color.rgb' } },
  thermostat: {
    set: { type: 'number', role: 'level.temperature', min: 5, max: 30, unit: '°C' },
    actual: { type: 'number', role: 'value.temperature', write: false, unit: '°C' },
  },
  lock: { state: { type: 'boolean', role: 'switch.lock' } },
  blind: {
    level: { type: 'number', role: 'level.blind', min: 0, max: 100, unit: '%' },
    stop: { type: 'boolean', role: 'button.stop.blind', read: false },
  },
  gate: { state: { type: 'boolean', role: 'switch.gate' } },
};

const FIRST: Readonly<Record<string, string | number | boolean>> = { number: 20, boolean: false, string: '#102030' };

/** What the devices above can do, where an argument declares more or nothing; a hue of 100 is one of 0. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  hue: [0, 99],
  colorTemperature: [2_200, 6_500],
  temperature: [5, 30],
};

/** Values of an argument worth trying. */
function samplesOf({ name, type, values, optional, ...range }: ArgumentDecl): (Json | undefined)[] {
  const [min, max] = RANGES[name] ?? [range.min ?? 0, range.max ?? 100];
  if (optional) return [undefined];
  if (values) return [...values];
  if (type === 'boolean') return [true, false];
  if (type === 'number') return [min, max, Math.round(min + (max - min) / 3), Math.round(min + (max - min) * 0.77)];
  return ['a text'];
}

/** Every argument's samples, side by side. */
function argumentsOf(args: readonly ArgumentDecl[]): Record<string, Json>[] {
  const columns = args.map(arg => [arg.name, samplesOf(arg)] as const);
  const rows = Math.max(1, ...columns.map(([, samples]) => samples.length));
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      columns.flatMap(([name, samples]) => {
        const value = samples[row % samples.length];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  );
}

describeIobroker('devices that the type detector knows', () => {
  let io: IoBroker;
  let staged: Awaited<ReturnType<typeof stageBackend>>;
  const folders = new Map(Object.keys(DEVICES).map((what, n) => [what, `hue.0.device${n}`]));

  beforeAll(async () => {
    io = await startIoBroker();
    for (const [what, states] of Object.entries(DEVICES)) {
      const folder = folders.get(what) as string;
      await io.setObject(folder, { type: 'channel', common: { name: what } });
      for (const [name, common] of Object.entries(states)) {
        const { type, min, read } = common as { type: string; min?: number; read?: boolean };
        await io.addState(`${folder}.${name}`, common, read === false ? undefined : (min ?? FIRST[type] ?? null));
      }
    }
    staged = await stageBackend(io, { settings: { states: ['hue.0.*'] } });
  });
  afterAll(async () => {
    await staged?.supervised.stop();
    await io?.end();
  });

  describe.each([...folders])('%s', (_what, folder) => {
    test('has a capability, and does what its commands promise', async () => {
      const { sink, supervised } = staged;
      const id = `iobroker:${folder}`;
      const device = sink.declared.get(id);
      expect(device?.capabilities).not.toEqual([]);
      const last = (attribute: string) =>
        sink.reports.findLast(one => one.type === 'value' && one.device === id && one.attribute === attribute) as
          | { value: Json }
          | undefined;
      for (const [command, { args, effects }] of Object.entries(device?.commands ?? {})) {
        if (command.startsWith('set:') || command.startsWith('press:')) continue;
        for (const given of argumentsOf(args)) {
          await supervised.execute(commandTo(id, command, given), patience());
          for (const effect of effects) {
            const { attribute } = effect;
            const promised = 'value' in effect ? effect.value : 'fromArg' in effect ? given[effect.fromArg] : undefined;
            if (promised === undefined) continue;
            const step = device?.attributes[attribute]?.step;
            await eventually(
              () => valuesEqual(last(attribute)?.value ?? null, promised, step),
              `${command} ${JSON.stringify(given)}: ${attribute} = ${JSON.stringify(promised)}, not ${JSON.stringify(last(attribute)?.value)}`,
              PATIENCE_MS,
            ).catch(() => {
              throw new Error(
                `${command} ${JSON.stringify(given)} promises ${attribute} = ${JSON.stringify(promised)}; told is ${JSON.stringify(last(attribute)?.value)}`,
              );
            });
          }
        }
      }
    });
  });
});
