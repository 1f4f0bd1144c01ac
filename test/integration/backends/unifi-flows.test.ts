// Flows as they end: each once, in the words of the trigger, and what came too fast is told.
import { afterEach, describe, expect, test } from 'vitest';
import { resourcesOf } from '../../../src/mcp/resources.ts';
import { systemResources } from '../../../src/ops/systems.ts';
import { eventually } from '../../kit/eventually.ts';
import { CLIENT } from '../../simulators/unifi/index.ts';
import { passing } from './clock.ts';
import { stageConsole } from './unifi-kit.ts';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(...[options = {}]: Parameters<typeof stageConsole>) {
  const staged = await stageConsole({ ...options, settings: { flows: 'all', ...options.settings } });
  ends.push(staged.end);
  const flows = () =>
    staged.sink.reports.flatMap(report => (report.type === 'flow' ? [report.flow as { id: string }] : []));
  const asked = () => staged.console.state.received.filter(({ path }) => path.endsWith('/traffic-flows'));
  const { console, clock, sink } = staged;
  return {
    ...staged,
    flows,
    asked,
    async down() {
      await console.down();
      await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    },
    async up() {
      await console.up();
      await passing(clock, () => sink.lines.filter(line => line === 'ready').length === 2, 'ready');
    },
  };
}

describe('flows', () => {
  test('are told in the words of the trigger, those of before the start not', async () => {
    const { console, flows, pass } = await stage({
      prepare: ({ state }) => {
        state.flow({ time: state.now() - 60_000 });
      },
    });
    console.state.flow({
      action: 'BLOCK',
      risk: 'high',
      direction: 'UPLOAD',
      protocol: 'TCP',
      source: console.state.flowSource(CLIENT.camera),
    });
    await pass(16_000);
    expect(flows()).toEqual([
      {
        id: expect.any(String),
        action: 'blocked',
        risk: 'high',
        direction: 'outgoing',
        protocol: 'tcp',
        service: 'HTTPS',
        bytes: 10_731,
        count: 1,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        age: expect.any(Number),
        ms: 1_200,
        source: { mac: CLIENT.camera, ip: '192.0.2.7', port: 51_514, name: 'Camera', network: 'IoT', zone: 'IoT' },
        destination: { ip: '203.0.113.20', port: 443, name: 'example.test', zone: 'WAN', domain: 'example.test' },
        policy: 'FIREWALL',
      },
    ]);
    expect(console.strangers).toEqual([]);
  });

  test('are told once though the windows overlap, and also when they are written late', async () => {
    const { console, flows, pass, backend } = await stage();
    const early = console.state.flow();
    await pass(16_000);
    const late = console.state.flow({ time: early.time + 1_000 });
    await pass(46_000);
    expect(flows().map(({ id }) => id)).toEqual([early.id, late.id]);
    expect(backend.counters.repeatedFlows).toBeGreaterThan(2);
  });

  test('of which only the blocked, or those of a risk, are wanted are asked for so', async () => {
    const one = await stage({ settings: { flows: 'blocked' } });
    one.console.state.flow();
    const blocked = one.console.state.flow({ action: 'blocked' });
    await one.pass(16_000);
    expect(one.flows().map(({ id }) => id)).toEqual([blocked.id]);
    expect(one.asked()[0]?.body).toMatchObject({ action: ['blocked'], risk: [] });
    const two = await stage({ settings: { flows: 'risky' } });
    two.console.state.flow();
    const risky = two.console.state.flow({ risk: 'high' });
    const both = two.console.state.flow({ risk: 'high', action: 'blocked' });
    await two.pass(16_000);
    expect(
      two
        .flows()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([risky.id, both.id]);
  });

  test('in thousands come in pages, in order', async () => {
    const { console, flows, pass, asked } = await stage();
    for (let i = 0; i < 2_500; i++) console.state.flow({ time: console.state.now() + i });
    await pass(21_000);
    await eventually(() => flows().length === 2_500, 'all flows');
    expect(
      asked()
        .slice(0, 3)
        .map(({ body }) => body.pageNumber),
    ).toEqual([0, 1, 2]);
    const times = flows().map(flow => (flow as unknown as { at: number }).at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('are told too where one of thousands is written a minute late', async () => {
    const { console, flows, pass } = await stage();
    for (let look = 0; look < 6; look++) {
      for (let i = 0; i < 750; i++) console.state.flow({ time: console.state.now() + 20 * i });
      await pass(15_000);
    }
    const late = console.state.flow({ time: console.state.now() - 60_000 });
    await pass(76_000);
    const ids = flows().map(({ id }) => id);
    expect(ids).toContain(late.id);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(ids).toHaveLength(6 * 750 + 1);
  });

  test('of which just as many came as can be fetched are not told as lost', async () => {
    const { console, flows, pass, backend } = await stage();
    for (let i = 0; i < 600; i++) console.state.flow();
    await pass(16_000);
    for (let i = 0; i < 9_900; i++) console.state.flow();
    await pass(20_000);
    await eventually(() => flows().length === 10_500, 'all flows');
    expect(backend.counters.lostFlows).toBe(0);
  });

  test('beyond what can be fetched are told as lost', async () => {
    const { console, flows, pass, until, backend } = await stage();
    for (let i = 0; i < 10_400; i++) console.state.flow();
    await pass(16_000);
    await until(/^unifi:site:default!flowsLost=\{"atLeast":/);
    expect(flows()).toHaveLength(10_000);
    expect(backend.counters.lostFlows).toBeGreaterThan(0);
  });

  test('of an outage are told after it', async () => {
    const { console, flows, pass, down, up } = await stage();
    await down();
    const missed = console.state.flow();
    await up();
    await pass(16_000);
    expect(flows().map(({ id }) => id)).toEqual([missed.id]);
  });

  test('of an outage of hours are told as lost, but for the last quarter of an hour', async () => {
    const { console, flows, pass, down, up, clock, sink, backend } = await stage();
    await pass(16_000);
    await down();
    for (let i = 0; i < 3; i++) console.state.flow();
    await clock.jump(7_200_000);
    const missed = console.state.flow();
    await up();
    await pass(40_000);
    expect(flows().map(({ id }) => id)).toEqual([missed.id]);
    expect(sink.lines.filter(line => line.includes('flowsLost'))).toEqual([expect.stringContaining('"atLeast":3')]);
    expect(backend.counters.lostFlows).toBe(3);
  });

  test('that a console did not tell for a moment are told when it does', async () => {
    const { console, flows, pass, log } = await stage();
    console.trouble.holds = path => {
      if (path.endsWith('/traffic-flows')) Object.assign(console.trouble, { status: 404 });
      return undefined;
    };
    await pass(16_000);
    Object.assign(console.trouble, { status: undefined, holds: undefined });
    expect(JSON.stringify(log.lines)).toContain('tells no traffic flows');
    const flow = console.state.flow();
    await pass(600_000);
    expect(flows().map(({ id }) => id)).toEqual([flow.id]);
  });

  test('are not asked for where nobody wants them', async () => {
    const { pass, asked, console } = await stage({ settings: { flows: 'off' } });
    console.state.flow();
    await pass(60_000);
    expect(asked()).toEqual([]);
  });
});

describe('whoever looks on', () => {
  const context = { caller: { principal: 'test', scopes: new Set(['read']), via: 'mcp', by: 'user' } } as never;

  test('reads the newest flows, and is told of further ones that are wanted', async () => {
    const { console, pass, backend, supervised } = await stage();
    const other = { ...backend, id: 'other', kind: 'unifi' };
    const resources = resourcesOf(
      systemResources({
        systems: new Map([
          ['unifi', backend],
          ['other', other as never],
        ]),
      }),
    );
    const read = async (uri: string) => JSON.parse(await resources.read(uri, context));
    expect(await read('unififlows://unifi/all')).toEqual({ backend: 'unifi', action: 'all', told: 'all', flows: [] });
    let told = 0;
    const end = resources.watch('unififlows://unifi/blocked', () => told++) as () => void;
    const ids = [console.state.flow(), console.state.flow({ action: 'blocked' })].map(({ id }) => id);
    await pass(16_000);
    expect(told).toBe(1);
    expect((await read('unififlows://unifi/all')).flows.map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort());
    expect((await read('unififlows://unifi/blocked')).flows).toMatchObject([{ id: ids[1], action: 'blocked' }]);
    end();
    console.state.flow({ action: 'blocked' });
    await pass(16_000);
    expect(told).toBe(1);
    await expect(read('unififlows://unifi/some')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(read('unififlows://nobody/all')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await supervised.stop();
  });

  test('hears how flows are followed, where none are', async () => {
    const { backend } = await stage({ settings: { flows: 'off' } });
    const resources = resourcesOf(systemResources({ systems: new Map([['unifi', backend]]) }));
    await expect(resources.read('unififlows://unifi/all', context)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      hint: expect.stringContaining('flows: blocked'),
    });
  });

  test('sees no more than the newest two hundred', async () => {
    const { console, pass, backend } = await stage();
    for (let i = 0; i < 450; i++) console.state.flow();
    await pass(16_000);
    expect(backend.recentFlows.newest('all')).toHaveLength(200);
    expect(backend.recentFlows.newest('all')[0]?.id).toBe(console.state.flows.at(-1)?.id);
  });
});
