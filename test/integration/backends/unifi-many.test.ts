// A large site: all of it is read, and nothing of it is odd; what the benchmark measures is what a console has.
import { afterEach, expect, test } from 'vitest';
import { converse, inform, settleMany, stir, wander } from '../../simulators/unifi/many.ts';
import { stageConsole } from './unifi-kit.ts';

let end: () => Promise<unknown> = async () => {};
afterEach(() => end());

test('a site of sixty devices and four hundred clients is read whole, and so is what goes on there', async () => {
  const staged = await stageConsole({
    settings: { flows: 'all' },
    prepare: ({ state }) => settleMany(state, 60, 400),
  });
  ({ end } = staged);
  const { console, backend, sink, pass } = staged;
  const { counters } = backend;
  const count = (kind: string) => backend.ready().ids(kind).length;
  expect([count('device'), count('client')]).toEqual([60, 400]);
  // Measures are told once a minute.
  await pass(60_000);
  const before = sink.reports.length;
  for (let i = 0; i < 60; i++) {
    stir(console.state, i * 7);
    inform(console.state, i);
    wander(console.state, i * 11);
    converse(console.state, i, console.state.now());
  }
  await pass(31_000);
  // A roam is told twice: as an event and as a row.
  expect(counters.messages).toBe(4 * 60);
  expect(counters.flows).toBe(60);
  const told = new Set(sink.reports.slice(before).map(report => (report.type === 'value' ? report.attribute : '')));
  for (const attribute of ['signal', 'download', 'downloaded', 'accessPoint', 'cpu', 'uptime', 'port:2:power'])
    expect(told).toContain(attribute);
  expect([counters.unreadable, counters.misfits, [...counters.unknownKinds]]).toEqual([0, 0, []]);
  expect(console.strangers).toEqual([]);
});
