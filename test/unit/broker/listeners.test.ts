import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../../broker/limits.ts';
import { listenTcp, originOf } from '../../../broker/listeners.ts';

it('goes on when a connection could not be accepted', async () => {
  const errors: string[] = [];
  const where = { host: '127.0.0.1', port: 0 };
  const server = await listenTcp(
    where,
    DEFAULT_LIMITS,
    () => {},
    error => errors.push(error.message),
  );
  onTestFinished(() => {
    server.close();
  });
  server.emit('error', new Error('EMFILE'));
  expect([errors, server.listening]).toEqual([['EMFILE'], true]);
});

it('knows where a stream comes from: not from here when a proxy brought it', async () => {
  const seen: unknown[] = [];
  const server = http.createServer((request, response) => {
    seen.push(originOf(request.socket, request));
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as net.AddressInfo;
  for (const headers of [{}, { 'X-Forwarded-For': '127.0.0.1' }, { Forwarded: 'for=1.2.3.4' }]) {
    await fetch(`http://127.0.0.1:${port}`, { headers: headers as Record<string, string> });
  }
  expect(seen).toEqual([
    { address: '127.0.0.1', secure: false },
    { address: 'proxy:127.0.0.1', secure: false },
    { address: 'proxy:127.0.0.1', secure: false },
  ]);
});

it('knows nothing of a peer that is gone, and of a stream without one', () => {
  expect(originOf(new net.Socket(), undefined)).toBeUndefined();
  expect(originOf(duplexPair()[0], undefined)).toEqual({ address: 'unknown', secure: false });
  expect(originOf(duplexPair()[0], { socket: new net.Socket(), headers: {} } as IncomingMessage)).toBeUndefined();
});
