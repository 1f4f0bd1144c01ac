// The frame protocol against a server that does what no ioBroker does on demand: garbage, silence, a late answer.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { newCounters } from '../../../../src/backends/iobroker/counters.ts';
import { type IobSocket, openSocket } from '../../../../src/backends/iobroker/socket.ts';
import type { CausewayError } from '../../../../src/lib/errors.ts';
import type { Json } from '../../../../src/lib/json.ts';
import { type JumpingClock, jumpingClock } from '../../../integration/backends/clock.ts';
import { eventually } from '../../../kit/eventually.ts';

const READY = [0, 1, '___ready___'];

let server: WebSocketServer;
let peer: WebSocket | undefined;
let received: Json[][];
let asked: string[];
let greeting: Json[] | undefined;
let clock: JumpingClock;
let lost: CausewayError[];
let events: [string, readonly Json[]][];
let counters: ReturnType<typeof newCounters>;
let socket: IobSocket | undefined;

beforeEach(async () => {
  clock = jumpingClock();
  greeting = READY;
  [received, asked, lost, events] = [[], [], [], []];
  counters = newCounters();
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise(resolve => server.once('listening', resolve));
  server.on('connection', (connected, request) => {
    peer = connected;
    asked.push(request.url ?? '');
    connected.on('message', data => received.push(JSON.parse(data.toString())));
    if (greeting) say(greeting);
  });
});
afterEach(async () => {
  socket?.close();
  socket = undefined;
  for (const client of server.clients) client.terminate();
  await new Promise(resolve => server.close(resolve));
});

const say = (frame: unknown) => peer?.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
const address = () => `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
const open = async (token?: string) => {
  socket = await openSocket({
    url: address(),
    token,
    clock,
    timeoutMs: 1_000,
    counters,
    onEvent: (name, args) => events.push([name, args]),
    onLost: error => lost.push(error),
  });
  return socket;
};
/** The id of the call that came as the n-th frame. */
const callId = (n = 0) =>
  eventually(() => received.filter(([type]) => type === 3)[n]?.[1] as number | undefined, 'a call');

describe('a call', () => {
  test('is answered by its id, in whatever order', async () => {
    const { call } = await open();
    const [first, second] = [call('getState', 'a'), call('getState', 'b')];
    const [a, b] = [await callId(0), await callId(1)];
    say([3, b, 'getState', [null, 'B']]);
    say([3, a, 'getState', [null, 'A']]);
    expect(await first).toEqual([null, 'A']);
    expect(await second).toEqual([null, 'B']);
    expect(received[0]).toEqual([3, a, 'getState', ['a']]);
  });

  test('that is refused says so, and what to do', async () => {
    const { ask } = await open();
    const answer = ask('delObject', 'x');
    say([3, await callId(), 'delObject', ['permissionError']]);
    await expect(answer).rejects.toMatchObject({ code: 'BACKEND_REJECTED', hint: expect.stringContaining('right') });
  });

  test('that nobody answers ends by itself, and its late answer harms nothing', async () => {
    const { call, ask } = await open();
    const answer = expect(call('noSuchCommand')).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    const id = await callId();
    await clock.jump(1_001);
    await answer;
    say([3, id, 'noSuchCommand', [null, 'late']]);
    const next = ask('getState', 'a');
    say([3, await callId(1), 'getState', [null, 1]]);
    expect(await next).toBe(1);
  });

  test('on its way when the connection ends may have been done', async () => {
    const { call } = await open();
    const answer = expect(call('setState', 'a', 1)).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    await callId();
    peer?.terminate();
    await answer;
    expect(lost).toMatchObject([{ code: 'BACKEND_OFFLINE' }]);
    await expect(call('getState', 'a')).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
  });

  test('beyond a thousand unanswered ones is not sent', async () => {
    const { call } = await open();
    const waiting = Array.from({ length: 1_000 }, (_, n) => call('getState', `${n}`).catch(() => {}));
    await expect(call('getState', 'more')).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
    socket?.close();
    await Promise.all(waiting);
  });
});

describe('a connection', () => {
  test('answers pings, and tells events', async () => {
    await open();
    say([1]);
    say([0, 7, 'stateChange', ['a.0.b', { val: 1 }]]);
    await eventually(() => received.some(([type]) => type === 2), 'a pong');
    await eventually(() => events.length > 0, 'an event');
    expect(events).toEqual([['stateChange', ['a.0.b', { val: 1 }]]]);
  });

  test('bears frames that are none, and counts them', async () => {
    await open();
    for (const odd of ['not JSON', '{}', '[]', 'null', '[9,1,"x"]', '[0,1,7,[]]', '[3,"x"]', '[0,1,"odd",{}]'])
      say(odd);
    say([0, 8, 'stateChange', ['still', null]]);
    await eventually(() => events.some(([, args]) => args[0] === 'still'), 'the event after them');
    expect(events).toContainEqual(['odd', []]);
    expect(counters.garbled).toBe(7);
    expect(lost).toEqual([]);
  });

  test('on which three pings stay unanswered is lost', async () => {
    await open();
    await clock.jump(45_000);
    expect(lost).toMatchObject([{ code: 'BACKEND_OFFLINE', message: expect.stringContaining('nothing was heard') }]);
    expect(clock.pending).toBe(0);
  });

  test('that is not greeted is given up', async () => {
    greeting = undefined;
    const opening = expect(open()).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    await eventually(() => peer !== undefined, 'the connection');
    await clock.jump(1_001);
    await opening;
    expect(clock.pending).toBe(0);
  });

  test('that wants a login says so, and what was wrong with ours, without the token', async () => {
    greeting = [0, 401, 'reauthenticate'];
    await expect(open()).rejects.toMatchObject({
      code: 'BACKEND_AUTH',
      message: expect.stringContaining('wants a login'),
    });
    const refused = await open('a-secret').catch((error: CausewayError) => error);
    expect(refused).toMatchObject({ code: 'BACKEND_AUTH', message: expect.stringContaining('refused') });
    expect(JSON.stringify(refused)).not.toContain('a-secret');
    expect(asked.at(-1)).toContain('token=a-secret');
  });

  test('that is closed by us tells nobody, and leaves no timer', async () => {
    const { close } = await open();
    close();
    await eventually(() => server.clients.size === 0, 'the end');
    expect(lost).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
