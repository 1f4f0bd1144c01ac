// The kill loop in its short form; `npx tsx test/e2e/kill-loop.ts 50` is the long one.
import { expect, it } from 'vitest';
import { killLoop } from './kill-loop.ts';

it('ten kills at random moments lose nothing acknowledged, and nothing happens twice', async () => {
  const report = await killLoop(10, 2);
  expect(report.violations).toEqual([]);
  // It has really been in the middle of all kinds; how often is up to the speed of the machine.
  for (const kind of ['hold', 'delay', 'queue', 'repeat', 'wait', 'add']) {
    expect(report.acknowledged[kind], kind).toBeGreaterThan(0);
  }
}, 150_000);
