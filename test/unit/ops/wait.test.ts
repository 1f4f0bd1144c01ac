// Waiting for devices to be something, told by events: comparisons, several devices, staying so, and what is noticed when it
// does not come about.
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { Event } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/value.ts';
import type { Gateway } from '../../../src/ops/gateway.ts';
import type { CallContext } from '../../../src/ops/op.ts';
import { waitOps } from '../../../src/ops/wait.ts';
import { Devices } from '../../../src/state/devices.ts';
import { settled } from '../backends/kit.ts';

const [waitForState] = waitOps as [(typeof waitOps)[0]];

function stage(values: Record<string, Json>) {
  const clock = new VirtualClock(0);
  const events$ = new Subject<Event>();
  const devices = new Devices();
  const now = new Map(Object.entries(values));
  for (const id of now.keys()) {
    devices.put({ id, name: id, capabilities: [], attributes: { level: { type: 'json' } }, commands: {} });
  }
  const gateway = {
    clock,
    recent: { events$ },
    engine: {
      core: {
        devices,
        values: {
          get: (id: string) => (now.get(id) === undefined ? undefined : { value: now.get(id), quality: 'good' }),
        },
      },
    },
  } as unknown as Gateway;
  const asking = new AbortController();
  const ask = async (input: object) => {
    const call = waitForState.run(
      gateway,
      waitForState.input.parse({ devices: [...now.keys()], attribute: 'level', ...input }),
      { signal: asking.signal, dryRun: false } as CallContext,
    );
    let answer: Awaited<typeof call> | undefined;
    void call.then(told => {
      answer = told;
    });
    await settled();
    return { answer: () => answer };
  };
  return {
    clock,
    asking,
    ask,
    call: (input: object) =>
      waitForState.run(gateway, waitForState.input.parse({ devices: [...now.keys()], attribute: 'level', ...input }), {
        signal: asking.signal,
      } as CallContext),
    async tell(id: string, value: Json) {
      now.set(id, value);
      events$.next({ device: id, attribute: 'level', value, quality: 'good' } as Event);
      await settled();
    },
    /** Several values of one moment: the present is the last of them before the first is told. */
    async tellAtOnce(id: string, ...told: Json[]) {
      now.set(id, told.at(-1) as Json);
      for (const value of told) events$.next({ device: id, attribute: 'level', value, quality: 'good' } as Event);
      await settled();
    },
    async pass(ms: number) {
      const end = clock.elapsed() + ms;
      while (clock.runNext(end)) await settled();
      clock.moveTo(end);
      await settled();
    },
    subscribers: () => events$.observed,
  };
}

describe('a comparison', () => {
  it.each<[object, Json, boolean]>([
    [{ value: 'on' }, 'on', true],
    [{ value: ['on', 'opening'] }, 'opening', true],
    [{ comparator: 'ne', value: 'on' }, 'off', true],
    [{ comparator: 'ne', value: ['on', 'off'] }, 'off', false],
    [{ value: '20' }, 20, true],
    [{ comparator: 'gt', value: 20 }, 20, false],
    [{ comparator: 'ge', value: 20 }, 20, true],
    [{ comparator: 'lt', value: 20 }, 19.9, true],
    [{ comparator: 'le', value: '20' }, 20.1, false],
    [{ comparator: 'between', value: [18, 22] }, 22, true],
    [{ comparator: 'between', value: [18, 22] }, 22.5, false],
    // A driver that has not declared an attribute tells its numbers as text.
    [{ comparator: 'gt', value: 3 }, '3.2', true],
    [{ comparator: 'le', value: 3 }, '3.2', false],
  ])('%j of %j is %j', async (input, value, met) => {
    const { ask, pass } = stage({ 'a:1': value });
    const { answer } = await ask({ ...input, timeout: '1s' });
    if (!met) await pass(1_000);
    expect(answer()).toMatchObject({ met, devices: [{ device: 'a:1', value, met }] });
  });

  it.each([
    { comparator: 'gt', value: 'warm' },
    { comparator: 'gt', value: null },
    { comparator: 'lt', value: '' },
    { comparator: 'ge', value: true },
    { comparator: 'le', value: [[1]] },
    { comparator: 'between', value: [1] },
    { comparator: 'between', value: [null, 5] },
    { comparator: 'between', value: [22, 18] },
    { value: 1, timeout: '2m' },
    { value: 1, timeout: '5s', stable_for: '5s' },
  ])('that makes no sense is refused: %j', async input => {
    await expect(stage({ 'a:1': 1 }).call(input)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });
});

describe('waiting', () => {
  it('ends with the event that brings it about, and leaves nothing behind', async () => {
    const { ask, tell, pass, clock, subscribers } = stage({ 'a:1': 'off' });
    const { answer } = await ask({ value: 'on' });
    await pass(3_000);
    expect(answer()).toBeUndefined();
    await tell('a:1', 'on');
    expect(answer()).toMatchObject({ met: true, waited_ms: 3_000 });
    expect(subscribers()).toBe(false);
    expect(clock.runNext()).toBe(false);
  });

  it('for all of several devices ends with the last, for any with the first', async () => {
    const all = stage({ 'a:1': 'off', 'a:2': 'off' });
    const any = stage({ 'a:1': 'off', 'a:2': 'off' });
    const [forAll, forAny] = [await all.ask({ value: 'on' }), await any.ask({ value: 'on', match: 'any' })];
    await all.tell('a:2', 'on');
    await any.tell('a:2', 'on');
    expect(forAll.answer()).toBeUndefined();
    expect(forAny.answer()).toMatchObject({ met: true, met_count: 1 });
    await all.tell('a:1', 'on');
    expect(forAll.answer()).toMatchObject({ met: true, met_count: 2 });
  });

  it('for something to stay begins anew with each time that it does not, however short', async () => {
    const { ask, tellAtOnce, pass } = stage({ 'a:1': 'on' });
    const { answer } = await ask({ value: 'on', stable_for: '2s' });
    await pass(1_900);
    await tellAtOnce('a:1', 'off', 'on');
    await pass(1_900);
    expect(answer()).toBeUndefined();
    await pass(100);
    expect(answer()).toMatchObject({ met: true, waited_ms: 3_900 });
  });

  it('in vain tells what they are, which have no number to compare, and which nothing is known of', async () => {
    const { ask, pass, tell } = stage({ 'a:1': 'warm', 'a:2': 3 });
    const { answer } = await ask({ comparator: 'gt', value: 20, timeout: '1s' });
    await tell('a:2', null);
    await pass(1_000);
    expect(answer()).toMatchObject({ met: false, timed_out: true, met_count: 0, non_numeric: ['a:1'] });
  });

  it('ends when nobody waits any more', async () => {
    const { ask, asking, subscribers } = stage({ 'a:1': 'off' });
    await ask({ value: 'on' });
    asking.abort();
    await settled();
    expect(subscribers()).toBe(false);
  });

  it('is refused for a device or an attribute that is not there', async () => {
    const { call } = stage({ 'a:1': 1 });
    await expect(call({ value: 1, devices: ['a:2'] })).rejects.toMatchObject({ code: 'DEVICE_NOT_FOUND' });
    await expect(call({ value: 1, attribute: 'levle' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('level'),
    });
  });
});
