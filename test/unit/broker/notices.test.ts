import { expect, it } from 'vitest';
import { createNotices } from '../../../broker/notices.ts';
import type { Notice } from '../../../broker/types.ts';
import { handClock } from './kit.ts';

function setUp(onNotice?: (notice: Notice) => void) {
  const clock = handClock();
  const lines: string[] = [];
  const line = (level: string) => (_details: object, message: string) => lines.push(`${level} ${message}`);
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  return { clock, lines, notices: createNotices(clock, log, onNotice) };
}
const denied = (client: string): Notice => ({ kind: 'publish-denied', text: 'no', client });

it('counts all, and tells of each kind and client once in ten seconds', () => {
  const told: string[] = [];
  const { clock, notices, lines } = setUp(({ client }) => told.push(client!));
  for (const client of ['a', 'a', 'b', 'a']) notices.add(denied(client));
  clock.advance(10_000);
  notices.add(denied('a'));
  expect(told).toEqual(['a', 'b', 'a']);
  expect(lines).toHaveLength(3);
  expect(notices.counts).toEqual({ 'publish-denied': 5 });
});

it('does not mind a listener that throws, and does not alarm over a lost connection', () => {
  const { notices, lines } = setUp(() => {
    throw new Error('boom');
  });
  notices.add({ kind: 'client-error', text: 'read ECONNRESET' });
  expect(lines).toEqual(['debug mqtt: read ECONNRESET', 'error mqtt: a listener for notices threw']);
});

it('remembers no more clients than a house can have', () => {
  const told: string[] = [];
  const { notices } = setUp(({ client }) => told.push(client!));
  for (let i = 0; i < 3_000; i++) notices.add(denied(String(i)));
  notices.add(denied('2999'));
  expect(told).toHaveLength(3_000);
});
