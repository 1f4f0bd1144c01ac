// What broker/aedes.ts and the files around it use of aedes beyond its public types. When this fails after an update of
// aedes, those files must be read again.
import { duplexPair } from 'node:stream';
import { Aedes } from 'aedes';
import { expect, it, onTestFinished } from 'vitest';
import type { AedesClient } from '../../../broker/aedes.ts';
import packageJson from '../../../package.json' with { type: 'json' };

it('is there', async () => {
  const aedes = await Aedes.createBroker();
  onTestFinished(() => aedes.close());
  const [stream] = duplexPair();
  const client = aedes.handle(stream) as AedesClient;
  expect(client).toMatchObject({
    pause: expect.any(Function),
    resume: expect.any(Function),
    subscriptions: {},
    closed: false,
    connected: false,
    clean: true,
    _nextId: expect.any(Number),
    _keepaliveTimer: null,
  });
  expect(Object.getPrototypeOf(client.subscriptions)).toBeNull();
  expect(client._parser.parse).toBeInstanceOf(Function);
  expect(client._parser.prependListener).toBeInstanceOf(Function);
  expect(aedes.publish.length).toBe(3);
});

it('is of the one version that was read', () => {
  expect(packageJson.dependencies.aedes).toBe('1.2.0');
});
