import { describe, expect, test } from 'vitest';
import { type NotifierPorts, notifiers, notifiersOf } from '../../../src/backends/house/notifiers/index.ts';
import { CausewayError } from '../../../src/lib/errors.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { CapabilityName } from '../../../src/model/capability.ts';
import { deviceOf } from '../../../src/model/device.ts';
import { settled } from './kit.ts';

function stage(answer: (init: RequestInit) => Promise<Response> = async () => new Response(null, { status: 200 })) {
  const did: unknown[] = [];
  const clock = new VirtualClock(0);
  const devices: Record<string, CapabilityName> = { speaker: 'speech', phone: 'notification', lamp: 'switch' };
  const ports: NotifierPorts = {
    clock,
    log: { ...silentLog, info: (details, message) => void did.push({ log: message, ...details }) },
    device: ref => {
      const capability = devices[ref];
      return capability && deviceOf({ id: `virtual:${ref}`, name: ref, capabilities: [capability] });
    },
    command: async (device, command, args) => void did.push({ device, command, args }),
    publish: async (topic, payload, options) => void did.push({ topic, payload: JSON.parse(payload), ...options }),
    fetch: async (url, init = {}) => {
      did.push({ url, method: init.method, headers: init.headers, body: JSON.parse(String(init.body)) });
      return answer(init);
    },
  };
  return { clock, ports, did };
}

const send = async (config: object, parts: { ports: NotifierPorts }, message: object = {}) =>
  notifiersOf({ it: config }, undefined, parts.ports).send('it', { message: 'The attic is hot', ...message });
const failure = (promise: Promise<void>) =>
  promise.then(
    () => undefined,
    error => error as CausewayError,
  );

describe('the table of notifiers', () => {
  test.each(notifiers.kinds.map(kind => [kind.type, kind] as const))(
    '%s has examples that its schema takes',
    (_type, kind) => {
      const examples = (kind.schema.meta()?.examples ?? []) as unknown[];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        // A secret stands for any text here.
        const given = JSON.parse(JSON.stringify(example).replaceAll('!secret ', ''));
        expect(kind.schema.safeParse(given).error).toBeUndefined();
      }
    },
  );
});

describe('a notifier', () => {
  test('ntfy pushes as JSON with its priority and token', async () => {
    const parts = stage();
    await send({ type: 'ntfy', url: 'https://ntfy.example', topic: 'house', token: 't' }, parts, {
      title: 'Attic',
      priority: 'urgent',
    });
    expect(parts.did).toEqual([
      {
        url: 'https://ntfy.example',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer t' },
        body: { topic: 'house', message: 'The attic is hot', title: 'Attic', priority: 5 },
      },
    ]);
  });

  test('webhook sends what there is to tell', async () => {
    const parts = stage();
    await send({ type: 'webhook', url: 'http://127.0.0.1:1/x', method: 'PUT', headers: { 'x-key': 'k' } }, parts, {
      tag: 'attic',
    });
    expect(parts.did).toMatchObject([
      { method: 'PUT', headers: { 'x-key': 'k' }, body: { message: 'The attic is hot', tag: 'attic' } },
    ]);
  });

  test('mqtt publishes', async () => {
    const parts = stage();
    await send({ type: 'mqtt', topic: 'home/notify' }, parts);
    expect(parts.did).toEqual([
      { topic: 'home/notify', payload: { message: 'The attic is hot' }, qos: 1, retain: false },
    ]);
  });

  test('device notifies, or speaks', async () => {
    const parts = stage();
    await send({ type: 'device', device: 'phone' }, parts, { title: 'Attic' });
    await send({ type: 'device', device: 'speaker', volume: 40 }, parts);
    expect(parts.did).toEqual([
      { device: 'virtual:phone', command: 'deviceNotification', args: { text: 'Attic: The attic is hot' } },
      { device: 'virtual:speaker', command: 'speak', args: { text: 'The attic is hot', volume: 40 } },
    ]);
  });

  test('device that can do neither, or is not there, says so', async () => {
    const parts = stage();
    expect(await failure(send({ type: 'device', device: 'lamp' }, parts))).toMatchObject({ code: 'COMMAND_UNKNOWN' });
    expect(await failure(send({ type: 'device', device: 'gone' }, parts))).toMatchObject({ code: 'DEVICE_NOT_FOUND' });
  });
});

describe('a message that does not get through', () => {
  const webhook = { type: 'webhook', url: 'http://example.org/x' };

  test.each([
    [401, 'BACKEND_AUTH'],
    [403, 'BACKEND_AUTH'],
    [500, 'BACKEND_REJECTED'],
  ])('by an answer %d is %s', async (status, code) => {
    const parts = stage(async () => new Response('no', { status }));
    expect(await failure(send(webhook, parts))).toMatchObject({ code, hint: expect.stringContaining('house.yaml') });
  });

  test('by a connection that fails is BACKEND_OFFLINE', async () => {
    const parts = stage(async () => {
      throw new TypeError('fetch failed');
    });
    expect(await failure(send(webhook, parts))).toMatchObject({ code: 'BACKEND_OFFLINE' });
  });

  test('by no answer within 15 s is BACKEND_TIMEOUT', async () => {
    const parts = stage(
      init => new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    );
    const failed = failure(send(webhook, parts));
    await settled();
    parts.clock.advanceTo(15_000);
    expect(await failed).toMatchObject({ code: 'BACKEND_TIMEOUT' });
  });

  test('by what the house does not allow keeps that error', async () => {
    const parts = stage(async () => {
      throw new CausewayError('FORBIDDEN', 'not on the egress list');
    });
    expect(await failure(send(webhook, parts))).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('leaves no timer behind', async () => {
    const parts = stage();
    await send(webhook, parts);
    await settled();
    expect(parts.clock.nextDue()).toBeUndefined();
  });
});

describe('the notifiers of a house', () => {
  const phone = { type: 'mqtt', topic: 'phone' };
  const tablet = { type: 'mqtt', topic: 'tablet' };

  test('are told by name, else the default, else the only one', async () => {
    const parts = stage();
    const both = notifiersOf({ phone, tablet }, 'tablet', parts.ports);
    await both.send('phone', { message: 'a' });
    await both.send(undefined, { message: 'b' });
    await notifiersOf({ phone }, undefined, parts.ports).send(undefined, { message: 'c' });
    expect(parts.did).toMatchObject([{ topic: 'phone' }, { topic: 'tablet' }, { topic: 'phone' }]);
  });

  test('are the log where there is none, or no default among several', async () => {
    const parts = stage();
    await notifiersOf({}, undefined, parts.ports).send(undefined, { message: 'a' });
    await notifiersOf({ phone, tablet }, undefined, parts.ports).send(undefined, { message: 'b' });
    expect(parts.did).toMatchObject([{ log: 'notification: a' }, { log: 'notification: b' }]);
  });

  test('name the nearest one where there is none of the name', async () => {
    const error = await failure(notifiersOf({ phone }, undefined, stage().ports).send('phon', { message: 'a' }));
    expect(error).toMatchObject({ code: 'NOT_FOUND', hint: 'did you mean "phone"?' });
  });

  test('work though one of them is wrong or not built yet, which says why', async () => {
    const parts = stage();
    const all = notifiersOf(
      { phone, mail: { type: 'smtp' }, wrong: { type: 'ntfy', topic: 'a b' } },
      'phone',
      parts.ports,
    );
    expect(all.faults.mail).toMatchObject({ code: 'UNSUPPORTED' });
    expect(all.faults.wrong).toMatchObject({ code: 'CONFIG_INVALID', path: 'notifiers/wrong/topic' });
    await all.send(undefined, { message: 'a' });
    expect(parts.did).toHaveLength(1);
    expect(await failure(all.send('mail', { message: 'a' }))).toBe(all.faults.mail);
  });
});
