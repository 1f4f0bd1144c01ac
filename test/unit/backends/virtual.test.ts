import { describe, expect, test } from 'vitest';
import { VirtualBackend, type VirtualRows } from '../../../src/backends/virtual/index.ts';
import type { VirtualSpec } from '../../../src/backends/virtual/spec.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { CAPABILITIES, CAPABILITY_NAMES } from '../../../src/model/capability.ts';
import { deviceOf } from '../../../src/model/device.ts';
import type { Json } from '../../../src/model/value.ts';
import { commandTo, patience, recorder, settled } from './kit.ts';

/** Rows in memory, as a store would keep them. */
function memoryRows(): VirtualRows & { rows: Map<string, Json>; durable: string[] } {
  const rows = new Map<string, Json>();
  const durable: string[] = [];
  return {
    rows,
    durable,
    load: () => new Map([...rows].map(([key, row]) => [key, JSON.parse(JSON.stringify(row)) as Json])),
    save(id, row, durability) {
      if (durability === 'full') durable.push(id);
      if (row === undefined) rows.delete(id);
      else rows.set(id, row);
    },
  };
}

async function stage(...specs: VirtualSpec[]) {
  const clock = new VirtualClock(0);
  const rows = memoryRows();
  const backend = new VirtualBackend({ clock, rows });
  for (const spec of specs) backend.createDevice(spec);
  const sink = recorder();
  await backend.start(sink);
  sink.take();
  const send = (device: string, command: string, args: Record<string, Json> = {}) =>
    backend.execute(commandTo(device, command, args), patience());
  return { clock, rows, backend, sink, send };
}

const LAMP: VirtualSpec = { name: 'Lamp', capabilities: ['switch', 'dimmer'], values: { switch: 'off', level: 40 } };
const code = (promise: Promise<void>) =>
  promise.then(
    () => 'ok',
    error => (error as { code: string }).code,
  );
const codeOf = (act: () => unknown) => {
  try {
    act();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('a start', () => {
  test('tells the devices, their values, and that this was all', async () => {
    const backend = new VirtualBackend({ clock: new VirtualClock(0) });
    backend.createDevice(LAMP);
    const sink = recorder();
    await backend.start(sink);
    expect(sink.lines).toEqual([
      'online',
      'devices: virtual:lamp',
      'virtual:lamp/switch=off',
      'virtual:lamp/level=40',
      'ready',
    ]);
  });

  test('may be ready later', async () => {
    const clock = new VirtualClock(0);
    const backend = new VirtualBackend({ clock });
    backend.readyAfterMs = 5_000;
    const sink = recorder();
    await backend.start(sink);
    clock.advanceTo(4_999);
    expect(sink.lines).not.toContain('ready');
    clock.advanceTo(5_000);
    expect(sink.lines).toContain('ready');
  });

  test('after a restart of the process tells the last values', async () => {
    const { backend, clock, rows, send } = await stage(LAMP);
    await send('virtual:lamp', 'on');
    clock.advanceTo(50);
    await backend.stop();
    const sink = recorder();
    await new VirtualBackend({ clock, rows }).start(sink);
    expect(sink.lines).toContain('virtual:lamp/switch=on');
  });

  test('after a stop tells what was set, and what was commanded, meanwhile', async () => {
    const { backend, clock, send, sink } = await stage(LAMP);
    await send('virtual:lamp', 'setLevel', { level: 90 });
    await backend.stop();
    backend.setValue('virtual:lamp', 'switch', 'on');
    clock.advanceTo(1_000);
    expect(sink.take()).toEqual([]);
    await backend.start(sink);
    expect(sink.take()).toEqual([
      'online',
      'devices: virtual:lamp',
      'virtual:lamp/switch=on',
      'virtual:lamp/level=90',
      'ready',
    ]);
  });

  test('leaves out a stored row that cannot be read, and a value that no longer fits', async () => {
    const rows = memoryRows();
    rows.rows.set('virtual:bad', { nonsense: true });
    rows.rows.set('virtual:lamp', { name: 'Lamp', capabilities: ['switch'], values: { switch: 'purple', gone: 1 } });
    const backend = new VirtualBackend({ clock: new VirtualClock(0), rows });
    expect(backend.list().map(device => device.id)).toEqual(['virtual:lamp']);
    expect(backend.present('virtual:lamp')).toEqual({});
  });
});

describe('a command', () => {
  test('is answered at once, and its effects are reported 50 ms later', async () => {
    const { clock, send, sink } = await stage(LAMP);
    await send('virtual:lamp', 'on');
    clock.advanceTo(49);
    expect(sink.take()).toEqual([]);
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:lamp/switch=on']);
  });

  test('is echoed after as long as the device takes', async () => {
    const { clock, send, sink } = await stage({ ...LAMP, echo: { after: '10s' } });
    await send('virtual:lamp', 'on');
    clock.advanceTo(9_999);
    expect(sink.take()).toEqual([]);
    clock.advanceTo(10_000);
    expect(sink.take()).toEqual(['virtual:lamp/switch=on']);
  });

  test('to a device without an echo changes nothing', async () => {
    const { backend, clock, send, sink } = await stage({ ...LAMP, echo: 'none' });
    await send('virtual:lamp', 'on');
    clock.advanceTo(60_000);
    expect(sink.take()).toEqual([]);
    expect(backend.present('virtual:lamp')).toMatchObject({ switch: 'off' });
  });

  test('toggle takes the opposite of what is then', async () => {
    const { clock, send, sink } = await stage(LAMP);
    await send('virtual:lamp', 'toggle');
    await send('virtual:lamp', 'toggle');
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:lamp/switch=on', 'virtual:lamp/switch=off']);
  });

  test('toggle of a lamp of which nothing is known switches it on', async () => {
    const { clock, send, sink } = await stage({ name: 'Lamp', capabilities: ['switch'] });
    await send('virtual:lamp', 'toggle');
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:lamp/switch=on']);
  });

  test('stop leaves a moving cover between, and a resting one as it is', async () => {
    const { backend, clock, send, sink } = await stage({
      name: 'Blind',
      capabilities: ['cover'],
      values: { windowShade: 'opening' },
    });
    await send('virtual:blind', 'stop');
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:blind/windowShade=partially open']);
    backend.setValue('virtual:blind', 'windowShade', 'open');
    sink.take();
    await send('virtual:blind', 'stop');
    clock.advanceTo(100);
    expect(sink.take()).toEqual(['virtual:blind/windowShade=open']);
  });

  test('push and hold come back as events without state', async () => {
    const { backend, clock, send, sink } = await stage({ name: 'Remote', capabilities: ['button'] });
    await send('virtual:remote', 'push', { button: 2 });
    await send('virtual:remote', 'hold', { button: 1 });
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:remote!pushed=2', 'virtual:remote!held=1']);
    expect(backend.present('virtual:remote')).toEqual({});
  });

  test('with an argument left out, or an attribute that the device lacks, has the other effects', async () => {
    const { clock, send, sink } = await stage({ name: 'Strip', capabilities: ['color'] });
    await send('virtual:strip', 'setColor', { hue: 10, saturation: 20, level: 30 });
    clock.advanceTo(50);
    expect(sink.take()).toEqual(['virtual:strip/hue=10', 'virtual:strip/saturation=20']);
  });

  test('to an unknown device, of an unknown name, or while out of reach fails with its reason', async () => {
    const { backend, send } = await stage(LAMP);
    expect(await code(send('virtual:lmap', 'on'))).toBe('DEVICE_NOT_FOUND');
    expect(await code(send('virtual:lamp', 'explode'))).toBe('COMMAND_UNKNOWN');
    backend.setAvailable('virtual:lamp', false);
    expect(await code(send('virtual:lamp', 'on'))).toBe('BACKEND_OFFLINE');
  });

  test.each(CAPABILITY_NAMES)('every command of %s does what the table says', async capability => {
    const { backend, clock, send } = await stage({ name: 'Thing', capabilities: [capability] });
    for (const [command, declared] of Object.entries(CAPABILITIES[capability].commands)) {
      const args = Object.fromEntries(
        declared.args.map(arg => [arg.name, arg.values?.[0] ?? (arg.type === 'number' ? 7 : 'x')]),
      );
      await send('virtual:thing', command, args);
      clock.advanceTo(clock.elapsed() + 50);
      const present = backend.present('virtual:thing');
      for (const effect of declared.effects) {
        const { momentary } = backend.list()[0]?.attributes[effect.attribute] ?? { momentary: true };
        if ('value' in effect) expect(present).toMatchObject({ [effect.attribute]: effect.value });
        else if ('fromArg' in effect && !momentary)
          expect(present).toMatchObject({ [effect.attribute]: args[effect.fromArg] });
      }
    }
  });
});

describe('a device made to fail', () => {
  test('answers with the error until its time is over, and does nothing', async () => {
    const { backend, clock, send, sink } = await stage(LAMP);
    backend.fail('virtual:lamp', { error: 'BACKEND_TIMEOUT', until: 1_000 });
    expect(await code(send('virtual:lamp', 'on'))).toBe('BACKEND_TIMEOUT');
    clock.advanceTo(999);
    expect(await code(send('virtual:lamp', 'on'))).toBe('BACKEND_TIMEOUT');
    expect(sink.take()).toEqual([]);
    clock.advanceTo(1_000);
    expect(await code(send('virtual:lamp', 'on'))).toBe('ok');
  });

  test('hangs until its caller gives up', async () => {
    const { backend, clock, sink } = await stage(LAMP);
    backend.fail('virtual:lamp', { hang: true });
    const abort = new AbortController();
    let ended = false;
    const sent = backend.execute(commandTo('virtual:lamp', 'on'), abort.signal).catch(() => {
      ended = true;
    });
    clock.advanceTo(3_600_000);
    await settled();
    expect(ended).toBe(false);
    abort.abort();
    await sent;
    expect(ended).toBe(true);
    expect(sink.take()).toEqual([]);
  });

  test('acts at once but answers late', async () => {
    const { backend, clock, send, sink } = await stage(LAMP);
    backend.fail('virtual:lamp', { answerAfter: 40_000 });
    let answered = false;
    const sent = send('virtual:lamp', 'on').then(() => {
      answered = true;
    });
    await settled();
    clock.advanceTo(39_999);
    await settled();
    expect(sink.take()).toEqual(['virtual:lamp/switch=on']);
    expect(answered).toBe(false);
    clock.advanceTo(40_000);
    await sent;
    expect(answered).toBe(true);
  });

  test('goes well again when told so', async () => {
    const { backend, send } = await stage(LAMP);
    backend.fail('virtual:lamp', { hang: true });
    backend.fail('virtual:lamp', undefined);
    expect(await code(send('virtual:lamp', 'on'))).toBe('ok');
  });
});

describe('a device out of reach', () => {
  test('changes unnoticed and on its return tells only what is new, before it says that it is back', async () => {
    const { backend, sink } = await stage(LAMP);
    backend.setAvailable('virtual:lamp', false);
    backend.setValue('virtual:lamp', 'switch', 'on');
    backend.setValue('virtual:lamp', 'level', 40);
    expect(sink.take()).toEqual(['virtual:lamp offline']);
    backend.setAvailable('virtual:lamp', true);
    expect(sink.take()).toEqual(['virtual:lamp/switch=on', 'virtual:lamp online']);
  });

  test('at a start says so, and tells all when it comes back', async () => {
    const { backend, sink } = await stage(LAMP);
    await backend.stop();
    backend.setAvailable('virtual:lamp', false);
    await backend.start(sink);
    expect(sink.take()).toEqual(['online', 'devices: virtual:lamp', 'virtual:lamp offline', 'ready']);
    backend.setAvailable('virtual:lamp', true);
    expect(sink.take()).toEqual(['virtual:lamp/switch=off', 'virtual:lamp/level=40', 'virtual:lamp online']);
  });

  test('presses no buttons', async () => {
    const { backend, sink } = await stage({ name: 'Remote', capabilities: ['button'] });
    backend.setAvailable('virtual:remote', false);
    backend.setValue('virtual:remote', 'pushed', 1);
    expect(sink.take()).toEqual(['virtual:remote offline']);
  });
});

describe('a person at the device', () => {
  test('causes a report, of the same value too', async () => {
    const { backend, sink } = await stage(LAMP);
    backend.setValue('virtual:lamp', 'switch', 'on');
    backend.setValue('virtual:lamp', 'switch', 'on');
    expect(sink.take()).toEqual(['virtual:lamp/switch=on', 'virtual:lamp/switch=on']);
  });

  test('cannot set what is no attribute or no value of it', async () => {
    const { backend } = await stage(LAMP);
    expect(codeOf(() => backend.setValue('virtual:lamp', 'swicth', 'on'))).toBe('INPUT_INVALID');
    expect(codeOf(() => backend.setValue('virtual:lamp', 'switch', 'purple'))).toBe('VALUE_INVALID');
    expect(codeOf(() => backend.setValue('virtual:lmap', 'switch', 'on'))).toBe('DEVICE_NOT_FOUND');
  });
});

describe('a raw report', () => {
  const raw = (value: unknown, more: object = {}) =>
    ({ type: 'value', device: 'virtual:lamp', attribute: 'switch', value, ...more }) as const;

  test('is passed on as it is, whatever it says', async () => {
    const { backend, sink } = await stage(LAMP);
    backend.report(raw('purple', { seq: 3, id: 'x' }));
    expect(sink.reports.at(-1)).toEqual(raw('purple', { seq: 3, id: 'x' }));
    expect(backend.present('virtual:lamp')).toMatchObject({ switch: 'off' });
  });

  test('is what the device is from then on, unless it is late or not to be relied on', async () => {
    const { backend } = await stage(LAMP);
    const present = () => backend.present('virtual:lamp').switch;
    backend.report(raw('on', { seq: 5 }));
    expect(present()).toBe('on');
    backend.report(raw('off', { seq: 4 }));
    backend.report(raw('off', { quality: 'unknown' }));
    expect(present()).toBe('on');
    backend.report(raw('off', { seq: 6 }));
    expect(present()).toBe('off');
  });
});

describe('devices', () => {
  test('are made of capabilities and native attributes, and told at once', async () => {
    const { backend, rows, sink } = await stage();
    const device = backend.createDevice({
      name: 'Küche (Süd)',
      room: 'kitchen',
      capabilities: ['temperature'],
      attributes: {
        scene: { type: 'enum', values: ['day', 'night'] },
        gain: { type: 'number', step: 0.1, unit: 'dB' },
      },
      values: { scene: 'day' },
    });
    expect(device).toMatchObject({ id: 'virtual:kuche-sud', room: 'kitchen' });
    expect(Object.keys(device.attributes)).toEqual(['temperature', 'scene', 'gain']);
    expect(sink.take()).toEqual(['device: virtual:kuche-sud "Küche (Süd)"', 'virtual:kuche-sud/scene=day']);
    expect(rows.durable).toEqual(['virtual:kuche-sud']);
  });

  test.each([
    [{ name: '' }, 'INPUT_INVALID'],
    [{ name: 'Nothing' }, 'INPUT_INVALID'],
    [{ name: 'Odd', capabilities: ['telepathy'] }, 'INPUT_INVALID'],
    [{ name: 'Odd', attributes: { x: { type: 'enum' } } }, 'INPUT_INVALID'],
    [{ ...LAMP, name: 'Other', values: { switch: 'purple' } }, 'VALUE_INVALID'],
    [LAMP, 'EXISTS'],
  ])('%j cannot be made: %s', async (spec, expected) => {
    const { backend } = await stage(LAMP);
    expect(codeOf(() => backend.createDevice(spec as VirtualSpec))).toBe(expected);
    expect(backend.list()).toHaveLength(1);
  });

  test('keep their id when they are renamed, also over a restart', async () => {
    const { backend, clock, rows, sink } = await stage(LAMP);
    backend.renameDevice('virtual:lamp', 'Desk');
    expect(sink.take()).toEqual(['device: virtual:lamp "Desk"']);
    expect(new VirtualBackend({ clock, rows }).list()).toMatchObject([{ id: 'virtual:lamp', name: 'Desk' }]);
  });

  test('are gone when they are deleted, with what was on its way to them', async () => {
    const { backend, clock, rows, send, sink } = await stage(LAMP);
    await send('virtual:lamp', 'on');
    backend.deleteDevice('virtual:lamp');
    clock.advanceTo(1_000);
    expect(sink.take()).toEqual(['removed: virtual:lamp']);
    expect(rows.rows.size).toBe(0);
  });

  test('that are adopted are not kept, and may be stand-ins of another backend', async () => {
    const rows = memoryRows();
    const backend = new VirtualBackend({ clock: new VirtualClock(0), rows, id: 'hubitat' });
    backend.adopt(deviceOf({ id: 'hubitat:42', name: 'Fan', capabilities: ['switch'] }), { values: { switch: 'on' } });
    const sink = recorder();
    await backend.start(sink);
    expect(sink.lines).toContain('hubitat:42/switch=on');
    expect(rows.rows.size).toBe(0);
  });
});
