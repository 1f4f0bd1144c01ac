// The same broker over TLS and WebSocket, and what it answers and tells as a part of the gateway.
import http from 'node:http';
import net from 'node:net';
import { duplexPair } from 'node:stream';
import tls from 'node:tls';
import mqttPacket from 'mqtt-packet';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { client, connect, everything, loggedIn, ours, pause, subscribe, until } from './kit.ts';

// Self-signed for localhost, until 2120; protects nothing.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzIQ0gPgsVY7w7G7l
9Yg5Rp/SMJ6s89qxUL4etXBt6aqhRANCAAS7lIksinEkS8jECyguGgJnJGaDbeRg
OVv1q/BNpOofDZBW2VfT/oIPnkd4wmgsONF+cPbEs0M9SIL+4/mY1Q5l
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLuUiSyKcSRLyMQL
KC4aAmckZoNt5GA5W/Wr8E2k6h8NkFbZV9P+gg+eR3jCaCw40X5w9sSzQz1Igv7j
+ZjVDmWjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBRSfeDC+nzysSPWKrDReUkY0EpDeDAKBggqhkjOPQQD
AgNIADBFAiBow/wDcpS80jK/I2krvARej0qOHe+ND1CcF6Ptvx+mYgIhAI2dWrr/
i9ESPAUhQD30aK1HA9K7J2+NfLrOHiiV3liy
-----END CERTIFICATE-----`;

const forced = (socket: tls.TLSSocket) => {
  onTestFinished(() => {
    socket.destroy();
  });
  return new Promise<string>(resolve => {
    socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''));
    socket.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message));
  });
};

describe('TLS', () => {
  const secure = async (more: { ca?: string } = {}) => {
    const test = await ours({
      authenticate: peer => ({ ...everything, name: peer.secure ? 'secure' : 'plain' }),
    });
    const { port } = await test.broker.listen({ host: '127.0.0.1', port: 0, tls: { key, cert, ...more } });
    return { ...test, tlsPort: port };
  };

  it('serves beside plain TCP, and says which is which', async () => {
    const { broker, port, tlsPort } = await secure();
    const over = await client(tlsPort, { protocol: 'mqtts', ca: cert, host: 'localhost', clientId: 'over' });
    await client(port, { clientId: 'under' });
    await over.subscribeAsync('t');
    broker.publish('t', 'x'.repeat(100_000));
    await until(() => over.got.length === 1);
    expect(broker.clients().map(({ id, username, secure: isSecure }) => ({ id, username, isSecure }))).toEqual([
      { id: 'over', username: 'secure', isSecure: true },
      { id: 'under', username: 'plain', isSecure: false },
    ]);
  });

  it('is of version 1.2 or later', async () => {
    const { tlsPort } = await secure();
    const at = (version: tls.SecureVersion) =>
      forced(
        tls.connect({
          port: tlsPort,
          host: '127.0.0.1',
          ca: cert,
          minVersion: 'TLSv1',
          maxVersion: version,
          ciphers: 'ALL@SECLEVEL=0',
        }),
      );
    expect(await at('TLSv1.1')).not.toMatch(/^TLS/);
    expect(await at('TLSv1.2')).toBe('TLSv1.2');
  });

  it('wants a certificate of the authority that it was given', async () => {
    const { tlsPort } = await secure({ ca: cert });
    await expect(client(tlsPort, { protocol: 'mqtts', ca: cert, host: 'localhost' })).rejects.toThrow();
    await client(tlsPort, { protocol: 'mqtts', ca: cert, cert, key, host: 'localhost' });
  });
});

describe('WebSocket', () => {
  const upgraded = async () => {
    const test = await ours({ authenticate: ({ address }) => ({ ...everything, name: address }) });
    const server = http.createServer();
    server.on('upgrade', test.broker.upgrade);
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return { ...test, port: (server.address() as net.AddressInfo).port };
  };

  const opened = (port: number, protocol: string) =>
    new Promise<WebSocket | Error>(resolve => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/mqtt`, protocol);
      onTestFinished(() => socket.terminate());
      socket.once('open', () => resolve(socket)).on('error', resolve);
    });

  it('carries MQTT both ways', async () => {
    const { broker, port, received } = await upgraded();
    const over = await client(port, { protocol: 'ws', path: '/mqtt' });
    await over.subscribeAsync('t', { qos: 1 });
    await over.publishAsync('from', 'x'.repeat(200_000), { qos: 2 });
    for (let i = 0; i < 20; i++) broker.publish('t', String(i), { qos: i % 2 ? 1 : 0 });
    await until(() => over.got.length === 20);
    expect(received.map(({ payload }) => payload.length)).toEqual([200_000]);
    expect(broker.clients()[0]).toMatchObject({ address: '127.0.0.1' });
  });

  it('carries the messages of one turn in one frame', async () => {
    const { broker, port } = await upgraded();
    const socket = (await opened(port, 'mqtt')) as WebSocket;
    const answers: Buffer[] = [];
    socket.on('message', data => answers.push(data as Buffer));
    socket.send(Buffer.concat([connect('c'), subscribe('t', 1)].map(each => mqttPacket.generate(each))));
    await until(() => Buffer.concat(answers).length === 9);
    answers.length = 0;
    for (let i = 0; i < 20; i++) broker.publish('t', 'x', { qos: i % 2 ? 1 : 0 });
    await until(() => answers.length > 0);
    expect(answers.map(({ length }) => length)).toEqual([10 * 6 + 10 * 8]);
  });

  it('notices when the other side is gone, and the other way round', async () => {
    const { broker, port } = await upgraded();
    const one = await client(port, { protocol: 'ws', clientId: 'one' });
    one.stream.destroy();
    await until(() => broker.clients().length === 0);
    const two = await client(port, { protocol: 'ws', clientId: 'two' });
    expect([broker.disconnect('two'), broker.disconnect('nobody')]).toEqual([true, false]);
    await until(() => !two.connected);
    await until(() => broker.counters().sockets === 0);
  });

  it('never counts as local when it came through a proxy', async () => {
    const { broker, port } = await upgraded();
    const wsOptions = { headers: { 'x-forwarded-for': '127.0.0.1' } };
    await client(port, { protocol: 'ws', wsOptions });
    expect(broker.clients()[0]).toMatchObject({ address: 'proxy:127.0.0.1', username: 'proxy:127.0.0.1' });
  });

  it('is refused without the subprotocol of MQTT, and ends with a frame that is too large', async () => {
    const { port, broker } = await upgraded();
    expect(await opened(port, 'chat')).toBeInstanceOf(Error);
    const socket = (await opened(port, 'mqtt')) as WebSocket;
    const closed = new Promise(resolve => socket.once('close', resolve));
    socket.send(mqttPacket.generate(connect('big')));
    socket.send(Buffer.alloc(1024 * 1024));
    await closed;
    await until(() => broker.counters().sockets === 0);
  });
});

describe('as a part of the gateway', () => {
  it('says who is connected, what is retained, and who would listen', async () => {
    const { broker, port } = await ours();
    const reader = await client(port, { clientId: 'r', clean: false });
    await reader.subscribeAsync(['causeway/device/+/state', 'causeway/event/#'], { qos: 1 });
    expect(['causeway/device/a/state', 'causeway/event', 'causeway/device/state'].map(broker.hasSubscribers)).toEqual([
      true,
      true,
      false,
    ]);
    expect(broker.clients()).toMatchObject([{ id: 'r', username: 'anybody', clean: false, subscriptions: 2 }]);
    await reader.endAsync();
    await until(() => broker.clients().length === 0);
    expect(broker.hasSubscribers('causeway/event/x')).toBe(true);
    broker.publish('causeway/device/a/state', '{}', { retain: true });
    expect([...broker.retained('causeway/+/+/state')]).toEqual([
      { topic: 'causeway/device/a/state', payload: Buffer.from('{}') },
    ]);
  });

  it('clears a retained message and tells its subscribers', async () => {
    const { broker, port } = await ours();
    broker.publish('causeway/gone', 'x', { retain: true });
    const reader = await client(port);
    await reader.subscribeAsync('#');
    await until(() => reader.got.length === 1);
    broker.clearRetained('causeway/gone');
    await until(() => reader.got.length === 2);
    expect(reader.got[1]).toMatchObject({ topic: 'causeway/gone', payload: '' });
    expect([...broker.retained('#')]).toEqual([]);
  });

  it('publishes without throwing whatever it is given, before it listens, and after it was closed', async () => {
    const { broker } = await ours();
    for (const topic of ['', 'a/#', '+', 'a/'.repeat(200)]) broker.publish(topic, 'x', { qos: 1, retain: true });
    broker.publish('fine', Buffer.alloc(0));
    await broker.close();
    broker.publish('late', 'x', { qos: 1, retain: true });
    expect([...broker.retained('#')].map(({ topic }) => topic)).not.toContain('a/#');
  });

  it('never hands its own messages back', async () => {
    const { broker, port, received } = await ours();
    for (const qos of [0, 1, 2] as const) broker.publish('causeway/x/set', 'ours', { qos });
    await (await client(port)).publishAsync('causeway/x/set', 'theirs', { qos: 1 });
    expect(received.map(({ payload }) => payload.toString())).toEqual(['theirs']);
  });

  it('serves a pair of streams, without a socket', async () => {
    const { broker } = await ours();
    const [near, far] = duplexPair();
    broker.handle(far);
    near.write(mqttPacket.generate(connect('inside')));
    const parser = mqttPacket.parser();
    const answer = new Promise(resolve => parser.once('packet', resolve));
    near.on('data', bytes => parser.parse(bytes));
    expect(await answer).toMatchObject({ cmd: 'connack', returnCode: 0 });
  });

  it('says when a port is taken', async () => {
    const { broker, port } = await ours();
    await expect(broker.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('sends nothing before its CONNACK, even to a session that is being restored', async () => {
    const { broker, port } = await ours();
    const first = await client(port, { clientId: 'r', clean: false });
    await first.subscribeAsync('t', { qos: 1 });
    await first.endAsync();
    const timer = setInterval(() => {
      for (const qos of [0, 1] as const) broker.publish('t', 'x', { qos });
    }, 0);
    onTestFinished(() => clearInterval(timer));
    for (let i = 0; i < 20; i++) {
      const again = await loggedIn(port, 'r', { clean: false });
      await pause(5);
      expect(again.packets[0]).toMatchObject({ cmd: 'connack' });
      again.socket.destroy();
    }
  });

  it('closes all that it has opened', async () => {
    const { broker, port } = await ours();
    const idle = net.connect(port, '127.0.0.1');
    onTestFinished(() => {
      idle.destroy();
    });
    const gone = new Promise(resolve => idle.once('close', resolve));
    await loggedIn(port, 'c');
    await broker.close();
    await gone;
    await expect(client(port)).rejects.toThrow();
  });
});
