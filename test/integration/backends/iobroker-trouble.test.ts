// The ioBroker backend when the real ioBroker gives trouble: restarts in mid-stream, races, a controller that is gone,
// processes that stand still, logins that have had their time.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Clock } from '../../../src/lib/clock.ts';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { commandTo, patience, type Recorder } from '../../unit/backends/kit.ts';
import { jumpingClock } from './clock.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';

vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

const soon = <T>(look: () => T | undefined | false, what: string) => eventually(look, what, PATIENCE_MS);

/**
 * What was told of an attribute, in order, as the engine takes it: without what is older than what was told already. The
 * events of ioBroker's adapter can be behind its own answers.
 */
function told(sink: Recorder, device: string, attribute: string): unknown[] {
  let latest = 0;
  return sink.reports.flatMap(one => {
    if (one.type !== 'value' || one.device !== device || one.attribute !== attribute) return [];
    if ((one.sourceTime ?? latest) < latest) return [];
    latest = one.sourceTime ?? latest;
    return [one.value];
  });
}

const offline = (sink: Recorder) => soon(() => sink.lines.find(one => one.startsWith('offline: ')), 'offline');

/** A state that rises by one all the time. */
function rising(io: IoBroker, id: string) {
  let last = 0;
  let isOver = false;
  const run = (async () => {
    while (!isOver) {
      await io.setState(id, ++last);
      await pause(1);
    }
  })();
  return {
    last: () => last,
    async stop() {
      isOver = true;
      await run;
      return last;
    },
  };
}

describeIobroker('the ioBroker backend in trouble', () => {
  let io: IoBroker;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    io = await startIoBroker();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => io?.end());

  const stage = async (...args: Parameters<typeof stageBackend> extends [IoBroker, ...infer R] ? R : never) => {
    const staged = await stageBackend(io, ...args);
    ends.push(() => staged.supervised.stop());
    return staged;
  };

  for (const how of ['stopped', 'killed'] as const) {
    test(`an adapter that is ${how} in mid-stream: what changed meanwhile comes as resync, nothing is invented or lost`, async () => {
      const id = `hue.0.${how}.count`;
      const device = `iobroker:hue.0.${how}`;
      await io.addState(id, { type: 'number', role: 'value' }, 0);
      const { sink, until } = await stage({ settings: { states: [`hue.0.${how}.*`] } });
      const counter = rising(io, id);
      ends.push(() => counter.stop());
      await soon(() => told(sink, device, 'count').length > 20, 'a stream');
      await io.stopAdapter('ws', how === 'killed' ? 'crash' : undefined);
      await offline(sink);
      await io.startAdapter('ws');
      await until('ready', 2);
      const atReady = counter.last();
      await soon(() => (told(sink, device, 'count').at(-1) as number) > atReady + 20, 'the stream again');
      const last = await counter.stop();
      await soon(() => told(sink, device, 'count').at(-1) === last, 'its last value');

      const between = (from: string, to: string) =>
        sink.lines.slice(
          sink.lines.findLastIndex(one => one.startsWith(from)),
          sink.lines.lastIndexOf(to),
        );
      const values = (lines: readonly string[]) =>
        lines.flatMap(one => (one.startsWith(`${device}/count=`) ? [Number(one.split('=')[1])] : []));
      expect(values(between('offline', 'online'))).toEqual([]);
      expect(values(between('online', 'ready'))).toHaveLength(1);
      const all = told(sink, device, 'count') as number[];
      expect(all).toEqual([...all].sort((a, b) => a - b));
      // From the snapshot on, each of them.
      const [snapshot] = values(between('online', 'ready')) as [number];
      const after = [...new Set(all.filter(value => value >= snapshot))];
      expect(after).toEqual(Array.from({ length: last - snapshot + 1 }, (_, i) => snapshot + i));
    });
  }

  test('a write that races the subscription is told, whichever is first', async () => {
    const id = 'hue.0.race.count';
    await io.addState(id, { type: 'number', role: 'value' }, 0);
    const { sink, supervised, until } = await stage({ settings: { states: ['hue.0.race.*'] } });
    const from = Date.now();
    for (let round = 1; round <= 25; round++) {
      await supervised.stop();
      const started = supervised.start(sink);
      const writes = (async () => {
        // Two within a millisecond, as happens.
        for (let i = 0; i < 40; i++) await io.setState(id, { val: round * 100 + i, ts: from + round * 100 + (i >> 1) });
      })();
      await Promise.all([started, writes, until('ready', round + 1)]);
      await soon(
        () => told(sink, 'iobroker:hue.0.race', 'count').at(-1) === round * 100 + 39,
        `the last of round ${round}`,
      );
    }
  });

  test('a press and a command during a connect are told once, after it', async () => {
    await io.addState('hue.0.remote.press', { type: 'boolean', role: 'button' }, false);
    await io.addState('hue.0.remote.mode', { type: 'number', role: 'value' }, 0);
    io.onCommand = () => undefined;
    const { sink, supervised, until } = await stage({ settings: { states: ['hue.0.remote.*'] } });
    for (let round = 1; round <= 10; round++) {
      await supervised.stop();
      sink.take();
      sink.reports.length = 0;
      await Promise.all([
        supervised.start(sink),
        io.setState('hue.0.remote.mode', { val: round, ack: false, from: 'system.adapter.vis.0' }),
      ]);
      await until('ready');
      // It was before the subscription, or is told; never twice.
      await io.setState('hue.0.remote.press', true);
      await soon(() => sink.lines.includes('iobroker:hue.0.remote!press=true'), 'the press');
      const seen = sink.lines.filter(one => one === `iobroker:hue.0.remote!command:mode=${round}`);
      expect(seen.length).toBeLessThanOrEqual(1);
      expect(sink.lines).not.toContain(`iobroker:hue.0.remote/mode=${round}`);
    }
    io.onCommand = (_id, state) => ({ val: state.val });
  });

  test('a controller that stops takes the backend offline, and brings it back', async () => {
    await io.addState('hue.0.gone.level', { type: 'number', role: 'value' }, 1);
    const { sink, supervised, until } = await stage({ settings: { states: ['hue.0.gone.*'] } });
    await io.stopController();
    await offline(sink);
    expect(await supervised.test()).toMatchObject({ ok: false, hint: expect.any(String) });
    await expect(
      supervised.execute(commandTo('iobroker:hue.0.gone', 'set:level', { value: 2 }), patience()),
    ).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
    await io.startController();
    await until('ready', 2);
    await io.setState('hue.0.gone.level', 3);
    await until('iobroker:hue.0.gone/level=3');
  });

  test('databases that are gone behind an open connection are noticed', async () => {
    await io.addState('hue.0.lost.level', { type: 'number', role: 'value' }, 1);
    const { sink, supervised, clock, until } = await stage({ settings: { states: ['hue.0.lost.*'] } });
    await io.loseDatabases();
    // The adapter may close the connection by itself; where it does not, a probe finds it out.
    await clock.jump(60_000);
    await clock.jump(10_000);
    await offline(sink);
    expect(await supervised.test()).toMatchObject({ ok: false });
    await io.startController();
    await clock.jump(300_000);
    await until('ready', 2);
    await io.setState('hue.0.lost.level', 3);
    await until('iobroker:hue.0.lost/level=3');
  });

  test('an adapter that stands still with all connections open is noticed, and found again when it goes on', async () => {
    await io.addState('hue.0.still.level', { type: 'number', role: 'value' }, 1);
    const { sink, clock, until } = await stage({ settings: { states: ['hue.0.still.*'] } });
    io.holdAdapter('ws');
    ends.push(async () => io.releaseAdapter('ws'));
    await clock.jump(45_000);
    await offline(sink);
    await io.setState('hue.0.still.level', 2);
    io.releaseAdapter('ws');
    await clock.jump(300_000);
    await until('ready', 2);
    expect(told(sink, 'iobroker:hue.0.still', 'level')).toEqual([1, 2]);
  });
});

describeIobroker('the ioBroker backend with a login', () => {
  const auth = { name: 'gateway', password: 'a real secret' };
  const settings = { user: auth.name, password: auth.password };
  let io: IoBroker;
  let end: () => Promise<unknown> = async () => {};
  beforeAll(async () => {
    io = await startIoBroker({ auth, tokenSeconds: 2 });
    await io.addState('hue.0.lamp.level', { type: 'number', role: 'value' }, 0);
  });
  afterEach(() => end());
  afterAll(() => io?.end());

  test('renews its token before it expires, and is never away', async () => {
    const { sink, supervised, until } = await stageBackend(io, { settings, url: io.wireUrl });
    end = () => supervised.stop();
    const before = io.wire.made;
    await soon(() => io.wire.made >= before + 3, 'three renewals');
    await io.setState('hue.0.lamp.level', 1);
    await until('iobroker:hue.0.lamp/level=1');
    expect(sink.lines.filter(one => one.startsWith('offline'))).toEqual([]);
  });

  test('logs in anew after a sleep in which its token expired', async () => {
    const awake = jumpingClock();
    let missed: (() => void)[] | undefined;
    const clock: Clock = {
      ...awake,
      after: (ms, fn) => awake.after(ms, () => (missed ? missed.push(fn) : fn())),
    };
    const { sink, supervised, until } = await stageBackend(io, { settings, clock: { ...awake, ...clock } });
    end = () => supervised.stop();
    missed = [];
    // ioBroker ends the connection of a token that was not renewed.
    await offline(sink);
    await io.setState('hue.0.lamp.level', 7);
    const late = missed;
    missed = undefined;
    for (const fn of late) fn();
    await until('ready', 2);
    await until('iobroker:hue.0.lamp/level=7');
  });

  test('a password that was changed meanwhile is told at the next login, without the password', async () => {
    const { sink, supervised, clock, until } = await stageBackend(io, { settings });
    end = () => supervised.stop();
    await io.setUser({ ...auth, password: 'another' });
    await io.stopAdapter('ws', 'crash');
    await offline(sink);
    sink.take();
    await io.startAdapter('ws');
    await clock.jump(5_000);
    const refused = await soon(() => sink.lines.find(one => /offline: .*(refused|login)/.test(one)), 'the refusal');
    expect(refused).not.toContain(auth.password);
    await io.setUser(auth);
    // Too many wrong passwords would lock the user out.
    await clock.jump(300_000);
    await until('ready');
  });
});
