// The ioBroker backend at a large ioBroker: twenty thousand states at connect, two thousand changes a second.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';

vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

const STATES = 20_000;
const idOf = (n: number) => `hue.0.device${n >> 2}.state${n & 3}`;

describeIobroker('an ioBroker with twenty thousand states', () => {
  let io: IoBroker;
  beforeAll(async () => {
    const states = Array.from({ length: STATES }, (_, n) => ({
      id: idOf(n),
      common: { type: 'number', role: 'value' },
      value: n,
    }));
    io = await startIoBroker({ states, watch: [] });
  });
  afterAll(() => io?.end());

  test('all are told once before ready, and what changes meanwhile is not lost', async () => {
    const values = new Map<string, unknown>();
    let told = 0;
    const staging = stageBackend(io, {
      onReport: report => {
        if (report.type !== 'value') return;
        told++;
        values.set(`${report.device}.${report.attribute}`.slice('iobroker:'.length), report.value);
      },
    });
    const changed = Array.from({ length: 400 }, (_, n) => n * 50);
    for (const n of changed) await io.setState(idOf(n), -1 - n);
    const { supervised, sink } = await staging;
    const expected = new Map(Array.from({ length: STATES }, (_, n) => [idOf(n), n]));
    for (const n of changed) expected.set(idOf(n), -1 - n);
    await eventually(() => changed.every(n => values.get(idOf(n)) === -1 - n), 'the changes', PATIENCE_MS);
    expect(values).toEqual(expected);
    expect(sink.declared.size).toBe(STATES / 4);
    const ready = sink.lines.indexOf('ready');
    expect(sink.lines.slice(0, ready).filter(line => line.includes('='))).toHaveLength(STATES);
    expect(told).toBeLessThanOrEqual(STATES + changed.length);
    await supervised.stop();
  });

  for (const how of ['two thousand changes a second', 'six thousand changes at once'] as const) {
    test(`of ${how} none is lost, and each state keeps its order`, async () => {
      const isBurst = how === 'six thousand changes at once';
      const first = isBurst ? 200_000 : 100_000;
      const ids = Array.from({ length: 200 }, (_, n) => idOf(n));
      const rounds = 30;
      const { supervised, sink } = await stageBackend(io, { url: io.wireUrl });
      sink.reports.length = 0;
      if (isBurst) io.wire.freeze();
      const start = performance.now();
      for (let round = 0; round < rounds; round++) {
        await io.setStates(ids.map(id => [id, first + round]));
        // As fast as a busy machine lets it.
        if (!isBurst) await pause(Math.max(0, start + round * 100 - performance.now()));
      }
      if (isBurst) io.wire.thaw();
      await eventually(() => sink.reports.length >= ids.length * rounds, 'all of them', PATIENCE_MS);
      const sequences = new Map<string, unknown[]>(ids.map(id => [id, []]));
      for (const report of sink.reports) {
        if (report.type !== 'value') continue;
        sequences.get(`${report.device}.${report.attribute}`.slice('iobroker:'.length))?.push(report.value);
      }
      const inOrder = Array.from({ length: rounds }, (_, n) => first + n);
      for (const id of ids) expect([id, sequences.get(id)]).toEqual([id, inOrder]);
      expect(sink.lines.filter(line => line.startsWith('offline'))).toEqual([]);
      await supervised.stop();
    });
  }
});
