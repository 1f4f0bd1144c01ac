// A broker, plain aedes beside it, and clients of both kinds, for the tests of this folder.
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Aedes, type AedesOptions } from 'aedes';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { onTestFinished } from 'vitest';
import {
  type Broker,
  type BrokerOptions,
  type InboundMessage,
  type Notice,
  startBroker,
} from '../../../broker/index.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';

export { pause };

/** Anybody may do anything that an outsider may. */
export const everything = { name: 'anybody', publish: ['#', 'causeway/#'], subscribe: ['#'] };

/** What a test broker has seen. */
export interface TestBroker {
  broker: Broker;
  port: number;
  received: InboundMessage[];
  notices: Notice[];
  kinds(): string[];
}

/** Our broker on a free port, ended with the test. Topics that end in `/set` are inputs. */
export async function ours(options: Partial<BrokerOptions> = {}): Promise<TestBroker> {
  const received: InboundMessage[] = [];
  const notices: Notice[] = [];
  const broker = await startBroker({
    clock: systemClock,
    log: silentLog,
    authenticate: () => everything,
    root: 'causeway',
    isInput: topic => topic.endsWith('/set'),
    onPublish: message => received.push(message),
    onNotice: notice => notices.push(notice),
    persistence: undefined,
    ...options,
  });
  onTestFinished(() => broker.close());
  const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
  return { broker, port, received, notices, kinds: () => notices.map(({ kind }) => kind) };
}

/** Plain aedes on a free port, ended with the test. */
export async function plain(options: AedesOptions = {}): Promise<{ aedes: Aedes; port: number; errors: string[] }> {
  const aedes = await Aedes.createBroker(options);
  const errors: string[] = [];
  aedes.on('clientError', (_client, error) => errors.push(error.message));
  aedes.on('connectionError', (_client, error) => errors.push(error.message));
  const server = net.createServer(socket => aedes.handle(socket));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>(resolve =>
        aedes.close(() => {
          server.close();
          resolve();
        }),
      ),
  );
  return { aedes, port: (server.address() as net.AddressInfo).port, errors };
}

/** A message of the gateway, as plain aedes wants it. */
export const packet = (topic: string, payload: string, more: { qos?: 0 | 1 | 2; retain?: boolean } = {}) => ({
  cmd: 'publish' as const,
  topic,
  payload: Buffer.from(payload),
  qos: more.qos ?? (0 as const),
  retain: more.retain ?? false,
  dup: false,
});

/** One received message in short. */
export interface Got {
  topic: string;
  payload: string;
  qos: number;
  retain: boolean;
  dup: boolean;
}

/** mqtt.js, connected, ended with the test, its messages collected. */
export async function client(port: number, options: IClientOptions = {}): Promise<MqttClient & { got: Got[] }> {
  const got: Got[] = [];
  const connected = mqtt.connect({ host: '127.0.0.1', port, reconnectPeriod: 0, connectTimeout: 3_000, ...options });
  connected.on('message', (topic, payload, { qos, retain, dup }) =>
    got.push({ topic, payload: payload.toString(), qos, retain, dup }),
  );
  onTestFinished(() => {
    connected.end(true);
  });
  await new Promise<void>((resolve, reject) => {
    connected.once('connect', () => resolve());
    connected.once('error', reject);
    connected.once('close', () => reject(new Error('closed')));
  });
  connected.on('error', () => {});
  return Object.assign(connected, { got });
}

/** A socket that speaks frames: what a library would not send, and no acknowledgement unless the test sends it. */
export interface RawClient {
  socket: net.Socket;
  packets: Packet[];
  send(...packets: Packet[]): void;
  write(bytes: Buffer): void;
  /** The next packet of this kind that was not returned before. */
  next(cmd: Packet['cmd']): Promise<Packet & Record<string, unknown>>;
  closed: Promise<void>;
  isClosed(): boolean;
}

/** Opens a raw client, destroyed with the test. */
export async function raw(port: number): Promise<RawClient> {
  const socket = net.connect(port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => {});
  const parser = mqttPacket.parser();
  const packets: Packet[] = [];
  const taken = new Set<Packet>();
  let wake = () => {};
  let isClosed = false;
  parser.on('packet', each => {
    packets.push(each);
    wake();
  });
  socket.on('data', bytes => parser.parse(bytes));
  const closed = new Promise<void>(resolve =>
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    }),
  );
  return {
    socket,
    packets,
    closed,
    isClosed: () => isClosed,
    send(...list) {
      socket.write(Buffer.concat(list.map(each => mqttPacket.generate(each))));
    },
    write: bytes => socket.write(bytes),
    async next(cmd) {
      for (;;) {
        const found = packets.find(each => each.cmd === cmd && !taken.has(each));
        if (found) {
          taken.add(found);
          return found as Packet & Record<string, unknown>;
        }
        if (isClosed) throw new Error(`closed before a ${cmd}`);
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    },
  };
}

/** A CONNECT. */
export const connect = (clientId: string, more: Record<string, unknown> = {}): Packet =>
  ({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId, keepalive: 0, ...more }) as Packet;

/** A SUBSCRIBE. */
export const subscribe = (topics: string | string[], qos: 0 | 1 | 2 = 0, messageId = 1): Packet => ({
  cmd: 'subscribe',
  messageId,
  subscriptions: [topics].flat().map(topic => ({ topic, qos })),
});

/** A raw client that is logged in. */
export async function loggedIn(port: number, clientId: string, more: Record<string, unknown> = {}): Promise<RawClient> {
  const connected = await raw(port);
  connected.send(connect(clientId, more));
  await connected.next('connack');
  return connected;
}

/** A subscriber of `filter` that then reads nothing any more: a laptop that sleeps. */
export async function frozen(port: number, filter: string, qos: 0 | 1 = 0): Promise<RawClient> {
  const laptop = await loggedIn(port, 'laptop');
  laptop.send(subscribe(filter, qos));
  await laptop.next('suback');
  laptop.socket.pause();
  return laptop;
}

/** Waits until `isSo`, looking often; gives up after `withinMs`. */
export async function until(isSo: () => boolean, withinMs = 5_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come to be so');
    await pause(5);
  }
}
