// Commands that end by themselves: a virtual lamp that blinks for as long as it is told, over restarts and outages.
import { describe, expect, test } from 'vitest';
import { keys } from '../../../src/engine/signals.ts';
import { yieldToIo } from '../../../src/lib/clock.ts';
import { CausewayError } from '../../../src/lib/errors.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { rootCause } from '../../../src/model/cause.ts';
import type { Backend, Command } from '../../../src/model/command.ts';
import { deviceOf } from '../../../src/model/device.ts';
import type { Json } from '../../../src/model/value.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import { bareEngine } from '../../kit/bare-engine.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);

const LAMP = deviceOf(
  { id: 'test:lamp', name: 'Lamp', capabilities: [] },
  {
    attributes: {},
    commands: {
      blink: {
        args: [
          { name: 'colour', type: 'string' },
          { name: 'minutes', type: 'number', unit: 'min', optional: true },
        ],
        effects: [],
        idempotent: true,
        ends: { after: 'minutes', command: 'rest' },
      },
      rest: { args: [{ name: 'colour', type: 'string' }], effects: [], idempotent: true },
      beep: { args: [], effects: [], idempotent: true, ends: { after: 'seconds', command: 'hush', otherwise: 30 } },
      hush: { args: [], effects: [], idempotent: true },
    },
  },
);

/** A house with the lamp; `answer` is what its system says to each command. */
function house(
  answer: (command: Command) => void | Promise<void> = () => {},
  { store = memoryStore(), clock = new VirtualClock(START) } = {},
) {
  const log: string[] = [];
  const backend: Backend = {
    id: 'test',
    kind: 'test',
    start: async () => {},
    stop: async () => {},
    test: async () => ({ ok: true, message: '' }),
    async execute(command) {
      const at = (clock.now() - START) / MINUTE;
      log.push(`${at} ${command.command} ${Object.values(command.args).join(' ')}`.trim());
      const said = answer(command);
      if (said) await said;
    },
  };
  const bare = bareEngine({ store, clock, backends: [backend] });
  const { engine } = bare;
  const sink = engine.sink('test');
  const begin = async () => {
    await bare.start([]);
    sink.online();
    sink.devices([LAMP]);
    sink.ready();
    await engine.idle();
  };
  return {
    ...bare,
    store,
    clock,
    log,
    sink,
    begin,
    async say(command: string, args: Json = {}) {
      const cause = rootCause(engine.core.ids(), { kind: 'user' }, 'user');
      const said = await engine.do(() =>
        engine.core.gate.submit(engine.core.tx, { device: 'test:lamp', command, args, cause }),
      );
      if (said.error) throw said.error;
      await engine.idle();
      return said.id;
    },
    /** To so many minutes after the start. */
    to: (minutes: number) => bare.runTo(minutes * MINUTE),
    async stored() {
      await yieldToIo();
      await engine.idle();
      return [...(await store.load()).tables.outbox.values()];
    },
  };
}

describe('A command that ends by itself', () => {
  test('is ended once, at its time, with the arguments that both commands have', async () => {
    const { begin, say, to, log, stored } = house();
    await begin();
    await say('blink', { colour: 'red', minutes: 90 });
    await to(89);
    expect(log).toEqual(['0 blink red 90']);
    await to(300);
    expect(log).toEqual(['0 blink red 90', '90 rest red']);
    expect(await stored()).toEqual([]);
  });

  test('lasts where no time is said, and as long as is usual where the declaration says so', async () => {
    const { begin, say, to, log } = house();
    await begin();
    await say('blink', { colour: 'red' });
    await say('beep');
    await to(600);
    expect(log).toEqual(['0 blink red', '0 beep', '0.5 hush']);
  });

  test('has one end for each that it is sent for, and the last word counts', async () => {
    const { begin, say, to, log } = house();
    await begin();
    await say('blink', { colour: 'red', minutes: 10 });
    await say('blink', { colour: 'green', minutes: 5 });
    await to(1);
    await say('blink', { colour: 'red', minutes: 1 });
    await say('blink', { colour: 'green' });
    await to(60);
    expect(log.slice(2)).toEqual(['1 blink red 1', '1 blink green', '2 rest red']);
  });

  test('that somebody ends before its time is not ended again', async () => {
    const { begin, say, to, log, stored, engine } = house();
    await begin();
    await say('blink', { colour: 'red', minutes: 10 });
    expect(engine.core.endings.of('test:lamp')).toEqual([
      {
        kind: 'ending',
        device: 'test:lamp',
        command: 'rest',
        args: { colour: 'red' },
        due: START + 10 * MINUTE,
        of: expect.any(String),
        cause: expect.anything(),
      },
    ]);
    await to(3);
    await say('rest', { colour: 'red' });
    expect(engine.core.endings.of('test:lamp')).toEqual([]);
    expect(await stored()).toEqual([]);
    await to(60);
    expect(log).toEqual(['0 blink red 10', '3 rest red']);
  });

  test('that failed has no end', async () => {
    const refuse = (command: Command) => {
      if (command.command === 'blink') throw new CausewayError('BACKEND_REJECTED', 'no');
    };
    const { begin, say, to, log, stored } = house(refuse);
    await begin();
    await say('blink', { colour: 'red', minutes: 10 });
    await to(60);
    expect(log).toEqual(['0 blink red 10']);
    expect(await stored()).toEqual([]);
  });

  test.each([
    ['to last longer', 'blink', { colour: 'red', minutes: 60 }],
    ['to last for good', 'blink', { colour: 'red' }],
    ['to end now', 'rest', { colour: 'red' }],
  ])('ends at its time where a further one, %s, fails', async (_what, command, args) => {
    let isRefusing = false;
    const { begin, say, to, log, stored, engine } = house(() => {
      if (isRefusing) throw new CausewayError('BACKEND_OFFLINE', 'gone');
    });
    await begin();
    await say('blink', { colour: 'red', minutes: 10 });
    isRefusing = true;
    await to(5);
    await say(command, args);
    isRefusing = false;
    expect(engine.core.endings.of('test:lamp')).toMatchObject([{ command: 'rest', due: START + 10 * MINUTE }]);
    await to(120);
    expect(log.slice(2)).toEqual(['10 rest red']);
    expect(await stored()).toEqual([]);
  });

  test('ends at once where one that was to end it fails after its time', async () => {
    let refuse = (): void => {};
    const { begin, say, to, log } = house(({ command }) => (command === 'blink' ? undefined : refuse()));
    await begin();
    await say('blink', { colour: 'red', minutes: 1 });
    refuse = () => {
      throw new CausewayError('BACKEND_TIMEOUT', 'late');
    };
    await to(0.9);
    await say('rest', { colour: 'red' });
    refuse = () => {};
    await to(10);
    expect(log).toEqual(['0 blink red 1', '0.9 rest red', '1 rest red']);
  });

  test('ends at its time though the process was killed while a further one was on its way, and that fails', async () => {
    const before = house(({ args }) => (args.minutes === 60 ? new Promise(() => {}) : undefined));
    await before.begin();
    await before.say('blink', { colour: 'red', minutes: 10 });
    await before.say('blink', { colour: 'red', minutes: 60 });
    before.engine.kill();
    const after = house(
      ({ command }) => {
        if (command === 'blink') throw new CausewayError('BACKEND_REJECTED', 'no');
      },
      { store: before.store, clock: new VirtualClock(START + 2 * MINUTE) },
    );
    await after.begin();
    await after.runTo(2 * HOUR);
    expect(after.log.filter(line => line.includes('rest'))).toEqual(['10 rest red']);
    expect(await after.stored()).toEqual([]);
  });

  test('ends at its time where nobody knows whether a further one has ended it', async () => {
    let isDoubtful = true;
    const { begin, say, to, log } = house(({ command }) => {
      if (command === 'rest' && isDoubtful) throw new CausewayError('BACKEND_UNCONFIRMED', 'perhaps');
    });
    await begin();
    await say('blink', { colour: 'red', minutes: 10 });
    await say('rest', { colour: 'red' });
    isDoubtful = false;
    await to(60);
    expect(log.slice(2)).toEqual(['10 rest red']);
  });

  test.each(['BACKEND_UNCONFIRMED', 'BACKEND_TIMEOUT'] as const)(
    'of which nobody knows whether it was done has one: %s',
    async code => {
      const doubt = (command: Command) => {
        if (command.command === 'blink') throw new CausewayError(code, 'perhaps');
      };
      const { begin, say, to, log } = house(doubt);
      await begin();
      await say('blink', { colour: 'red', minutes: 10 });
      await to(60);
      expect(log).toEqual(['0 blink red 10', '10 rest red']);
    },
  );

  test('carries its cause on to its end', async () => {
    const { begin, say, to, engine } = house();
    await begin();
    const causes: unknown[] = [];
    engine.core.signals.on(keys.command('test:lamp')).subscribe(({ cause }) => causes.push(cause));
    const id = await say('blink', { colour: 'red', minutes: 1 });
    await to(2);
    expect(causes[1]).toEqual({ ...(causes[0] as object), parent: id });
  });
});

describe('The end of a command', () => {
  test('is tried until it was done, with longer and longer waits', async () => {
    let tries = 0;
    const { begin, say, to, log } = house(({ command }) => {
      if (command === 'rest' && ++tries < 5) throw new CausewayError('BACKEND_TIMEOUT', 'later');
    });
    await begin();
    await say('blink', { colour: 'red', minutes: 1 });
    await to(60);
    const waits = log.slice(1).map(line => Math.round(Number.parseFloat(line) * 60) - 60);
    expect(waits).toEqual([0, 5, 15, 35, 75]);
  });

  test('waits for a system that is away, and comes soon after it is back', async () => {
    const { begin, say, to, log, sink, engine } = house();
    await begin();
    await say('blink', { colour: 'red', minutes: 1 });
    sink.offline('gone');
    await engine.idle();
    await to(60);
    expect(log).toEqual(['0 blink red 1']);
    sink.online();
    sink.ready();
    await engine.idle();
    await to(61);
    expect(log).toHaveLength(2);
    expect(Number.parseFloat(log[1] as string)).toBeLessThan(60.2);
  });

  test('is sent with few others at once, however many are due', async () => {
    const answers: (() => void)[] = [];
    let most = 0;
    const { begin, say, to, log, stored, engine } = house(({ command }) => {
      if (command !== 'rest') return;
      return new Promise<void>(resolve => {
        most = Math.max(most, answers.push(resolve));
      });
    });
    await begin();
    for (let i = 0; i < 50; i++) await say('blink', { colour: `${i}`, minutes: 1 });
    await to(1);
    while (answers.length > 0) {
      answers.shift()?.();
      await yieldToIo();
      await engine.idle();
    }
    expect(most).toBe(3);
    expect(log.filter(line => line.includes('rest'))).toEqual(Array.from({ length: 50 }, (_, i) => `1 rest ${i}`));
    expect(await stored()).toEqual([]);
  });

  test('is given up where it can never be done', async () => {
    const { begin, say, to, log, stored } = house(({ command }) => {
      if (command === 'rest') throw new CausewayError('UNSUPPORTED', 'never');
    });
    await begin();
    await say('blink', { colour: 'red', minutes: 1 });
    await to(600);
    expect(log).toEqual(['0 blink red 1', '1 rest red']);
    expect(await stored()).toEqual([]);
  });

  test.each([
    ['given up after a week of refusals', 'BACKEND_REJECTED', 7 * 24, 0],
    ['still tried after a week without a word', 'BACKEND_TIMEOUT', 8 * 24, 1],
  ] as const)('is %s', async (_what, code, hours, left) => {
    const { begin, say, to, log, stored } = house(({ command }) => {
      if (command === 'rest') throw new CausewayError(code, 'no');
    });
    await begin();
    await say('blink', { colour: 'red', minutes: 1 });
    await to(6 * 24 * 60);
    expect(await stored()).toHaveLength(1);
    await to(9 * 24 * 60);
    expect(Number.parseFloat(log.at(-1) as string) / 60).toBeGreaterThan(hours - 12);
    expect(await stored()).toHaveLength(left);
    const tries = log.length;
    await to(9 * 24 * 60 + 60);
    expect(log.length > tries).toBe(left === 1);
  });

  test.each([
    ['before it is due', 5, 10],
    ['long after', 3 * 60, 3 * 60],
  ])('comes though the process was killed meanwhile, and is back %s', async (_when, back, due) => {
    const before = house();
    await before.begin();
    await before.say('blink', { colour: 'red', minutes: 10 });
    before.engine.kill();
    const clock = new VirtualClock(START + back * MINUTE);
    const after = house(undefined, { store: before.store, clock });
    await after.begin();
    await after.runTo(HOUR);
    expect(after.log.map(line => [Math.round(Number.parseFloat(line)), line.split(' ')[1]])).toEqual([[due, 'rest']]);
    expect(await after.stored()).toEqual([]);
  });

  test('is not lost where the process is killed while it is on its way', async () => {
    const before = house(({ command }) => {
      if (command === 'rest') throw new CausewayError('BACKEND_OFFLINE', 'gone');
    });
    await before.begin();
    await before.say('blink', { colour: 'red', minutes: 1 });
    await before.to(1);
    before.engine.kill();
    const after = house(undefined, { store: before.store, clock: new VirtualClock(START + 2 * MINUTE) });
    await after.begin();
    await after.runTo(HOUR);
    expect(after.log.filter(line => line.includes('rest')).length).toBeGreaterThanOrEqual(1);
    expect(await after.stored()).toEqual([]);
  });
});
