import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../broker/limits.ts';
import { createMemory } from '../../../broker/memory.ts';
import { createPersistence } from '../../../broker/persistence.ts';
import { createSettler } from '../../../broker/settled.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const persistence = () => {
  const memory = createMemory({
    store: undefined,
    root: 'causeway',
    clock: systemClock,
    limits: { ...DEFAULT_LIMITS, retainedTopics: 1 },
    notices: { add() {}, counts: {} },
  });
  const full: string[] = [];
  const onRetainedFull = (topic: string) => full.push(topic);
  return {
    full,
    ...createPersistence({ ...memory, settler: createSettler(() => {}), incomingBytes: 1_000, onRetainedFull }),
  };
};
const message = { cmd: 'publish' as const, topic: 't', payload: Buffer.from('x'), qos: 1 as const, retain: false };
const client = { id: 'c' };

it('passes the suite of aedes-persistence, all but the subscription id of MQTT 5', { timeout: 60_000 }, async () => {
  const suite = fileURLToPath(new URL('persistence-suite.ts', import.meta.url));
  // Inside a test runner Node reports to that one instead.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=tap', suite], {
    env,
  });
  const { stdout } = await run;
  const counted = Object.fromEntries(
    [...stdout.matchAll(/^# (pass|fail|skipped) (\d+)$/gm)].map(m => [m[1], Number(m[2])]),
  );
  expect(counted).toEqual({ pass: 49, fail: 0, skipped: 1 });
});

it('answers before the call returns, so that no later message can be routed first', () => {
  const { storeRetained, subscriptionsByTopic } = persistence();
  const order: string[] = [];
  storeRetained(message).then(() => order.push('stored'));
  subscriptionsByTopic('t').then(() => order.push('matched'));
  order.push('after');
  expect(order).toEqual(['stored', 'matched', 'after']);
});

it('tells when a message outside the root was not retained, and keeps those under it', () => {
  const { full, storeRetained } = persistence();
  for (const topic of ['one', 'two', 'causeway/a', 'causeway/b']) storeRetained({ ...message, topic, retain: true });
  expect(full).toEqual(['two']);
});

it('queues once for overlapping filters of one session, at the highest QoS that was asked for', async () => {
  const { outgoingEnqueueCombi, outgoingStream } = persistence();
  const subscriptions = [0, 2, 1].map(qos => ({ clientId: 'c', qos }));
  outgoingEnqueueCombi(subscriptions, { ...message, qos: 2, retain: true });
  const queued = await outgoingStream(client).toArray();
  expect(queued).toMatchObject([{ qos: 2, retain: false }]);
});

it('keeps no more than its share of QoS 2 messages that a client does not release', async () => {
  const { incomingStorePacket, incomingGetPacket } = persistence();
  const store = (messageId: number) => incomingStorePacket(client, { ...message, payload: 'x'.repeat(400), messageId });
  await store(1);
  await expect(Promise.resolve(store(2)).then(() => store(3))).rejects.toThrow('too many');
  await expect(Promise.resolve(incomingGetPacket(client, { messageId: 3 }))).rejects.toThrow('no such packet');
});
