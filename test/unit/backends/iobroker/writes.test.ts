// Writing states: what is checked before, what confirms, what is told of commands that nobody confirms.
import { beforeEach, describe, expect, test } from 'vitest';
import { matcherOf } from '../../../../src/backends/iobroker/patterns.ts';
import type { IobState, StateObject } from '../../../../src/backends/iobroker/wire.ts';
import { Writes } from '../../../../src/backends/iobroker/writes.ts';
import { CausewayError } from '../../../../src/lib/errors.ts';
import { VirtualClock } from '../../../../src/lib/virtual-clock.ts';
import type { Json } from '../../../../src/model/value.ts';
import { patience, settled } from '../kit.ts';

const dimmer: StateObject = { id: 'x.0.level', name: '', type: 'number', role: '', read: true, min: 0, max: 254 };
const text: StateObject = { id: 'x.0.text', name: '', type: 'string', role: '', read: true };
const button: StateObject = { id: 'x.0.press', name: '', type: 'boolean', role: 'button', read: false };
const mine: StateObject = { ...text, id: 'own.0.text' };

const is = (val: Json, ack: boolean): IobState => ({ val, ack, ts: 1, q: 0, from: 'system.adapter.x.0' });

let clock: VirtualClock;
let sent: Json[];
let answer: () => Promise<Json>;
let writes: Writes;

beforeEach(() => {
  clock = new VirtualClock(0);
  sent = [];
  answer = async () => null;
  const ask = async (_command: string, id: Json, state: Json) => {
    sent.push([id, state]);
    return answer();
  };
  const socket = { ask } as ConstructorParameters<typeof Writes>[0]['socket'];
  writes = new Writes({ socket, clock, confirmMs: 1_000, isUnowned: matcherOf('own.*') });
});

/** How it ended: `ok`, or the code. */
function outcomeOf(promise: Promise<void>): { now(): Promise<string> } {
  let outcome = 'waiting';
  promise.then(
    () => {
      outcome = 'ok';
    },
    (error: CausewayError) => {
      outcome = error.code;
    },
  );
  return {
    async now() {
      await settled();
      return outcome;
    },
  };
}
const send = (state: StateObject, value: Json, isPress = false) =>
  outcomeOf(writes.send([{ state, value, isPress }], patience()));

describe('a write', () => {
  test('goes out as a command, and is done once it is confirmed', async () => {
    const write = send(dimmer, 100);
    expect(await write.now()).toBe('waiting');
    expect(sent).toEqual([['x.0.level', { val: 100, ack: false }]]);
    writes.take('x.0.level', is(100, true));
    expect(await write.now()).toBe('ok');
  });

  test('that comes back as a command is known for ours, once', async () => {
    send(dimmer, 100);
    expect(writes.take('x.0.level', is(7, false))).toBe(false);
    expect(writes.take('x.0.level', is(100, false))).toBe(true);
    expect(writes.take('x.0.level', is(100, false))).toBe(false);
  });

  test('is confirmed by what the device has rounded, and by no other value', async () => {
    const write = send(dimmer, 100);
    writes.take('x.0.level', is(40, true));
    expect(await write.now()).toBe('waiting');
    writes.take('x.0.level', is(101, true));
    expect(await write.now()).toBe('ok');
  });

  test('that nobody confirms is in doubt, and says what came instead', async () => {
    const failed = writes.send([{ state: dimmer, value: 100 }], patience()).catch((error: CausewayError) => error);
    await settled();
    writes.take('x.0.level', is(40, true));
    clock.advanceTo(1_000);
    expect(await failed).toMatchObject({ code: 'BACKEND_UNCONFIRMED', message: expect.stringContaining('40 instead') });
  });

  test('of a button is confirmed by whatever is', async () => {
    const write = send(button, true, true);
    writes.take('x.0.press', is(false, true));
    expect(await write.now()).toBe('ok');
  });

  test('to a state that no adapter owns is done once it is taken', async () => {
    expect(await send(mine, 'x').now()).toBe('ok');
  });

  test('is confirmed in the order in which it was sent', async () => {
    const [first, second] = [send(text, 'a'), send(text, 'b')];
    writes.take('x.0.text', is('a', true));
    expect([await first.now(), await second.now()]).toEqual(['ok', 'waiting']);
    writes.take('x.0.text', is('b', true));
    expect(await second.now()).toBe('ok');
  });

  test('whose answer is lost is in doubt; one that is refused has failed', async () => {
    answer = () => Promise.reject(new CausewayError('BACKEND_TIMEOUT', 'no answer'));
    expect(await send(dimmer, 1).now()).toBe('BACKEND_UNCONFIRMED');
    answer = () => Promise.reject(new CausewayError('BACKEND_REJECTED', 'no'));
    expect(await send(dimmer, 1).now()).toBe('BACKEND_REJECTED');
  });

  test('of several sends none where one is wrong', async () => {
    const both = [
      { state: text, value: 'a' },
      { state: dimmer, value: 999 },
    ];
    expect(await outcomeOf(writes.send(both, patience())).now()).toBe('ARGUMENT_INVALID');
    expect(sent).toEqual([]);
  });

  test('to an id that ioBroker would change on the way is refused', async () => {
    expect(await send({ ...text, id: 'x.0.客厅' }, 'a').now()).toBe('ARGUMENT_INVALID');
    expect(sent).toEqual([]);
  });

  test('leaves no timer', async () => {
    const write = send(dimmer, 100);
    writes.take('x.0.level', is(100, true));
    await write.now();
    expect(clock.nextDue()).toBeUndefined();
  });
});
