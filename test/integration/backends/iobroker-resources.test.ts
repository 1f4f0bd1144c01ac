// States, objects and the log of a real ioBroker as resources: read, and told when they change.
import { Subject } from 'rxjs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Resources, resourcesOf } from '../../../src/mcp/resources.ts';
import { createUpdates, type Subscriber, type Updates } from '../../../src/mcp/subscriptions.ts';
import { systemResources } from '../../../src/ops/systems.ts';
import { type IoBroker, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { eventually } from '../../kit/eventually.ts';
import { PATIENCE_MS, SLOW_MS, stageBackend } from './iobroker-kit.ts';

const context = {
  caller: { principal: 'x', scopes: new Set(['read'] as const), via: 'mcp', by: 'user' },
  dryRun: false,
  signal: new AbortController().signal,
} as const;

describeIobroker('the resources of ioBroker', () => {
  let io: IoBroker;
  let stage: Awaited<ReturnType<typeof stageBackend>>;
  let resources: Resources;
  let updates: Updates;
  const subscribers: Subscriber[] = [];

  const subscribe = (...uris: string[]): string[] => {
    const told: string[] = [];
    const outlet = { ready: () => true, updated: (uri: string) => told.push(uri), listChanged: () => {} };
    const subscriber = updates.subscribe(outlet);
    subscribers.push(subscriber);
    for (const uri of uris) subscriber.add(uri);
    return told;
  };
  const read = async (uri: string) => JSON.parse(await resources.read(uri, context));
  /** Repeats what may come before ioBroker has taken the subscription. */
  const until = (told: string[], uri: string, again: () => Promise<void>) =>
    eventually(
      async () => {
        await again();
        return told.includes(uri);
      },
      uri,
      PATIENCE_MS,
    );

  beforeAll(async () => {
    io = await startIoBroker({ adapters: ['ws', 'admin'] });
    await io.addState('hue.0.lamp.on', { name: 'on', type: 'boolean', role: 'switch' }, true);
    await io.addState('far.0.a.x', { name: 'x', type: 'number', role: 'value' }, 1);
    await io.addState('far.0.a/b', { name: 'y', type: 'number', role: 'value' }, 2);
    stage = await stageBackend(io, { settings: { admin: io.adminUrl } });
    resources = resourcesOf(systemResources({ systems: new Map([['iobroker', stage.backend]]) }));
    updates = createUpdates({
      updated$: new Subject(),
      listChanged$: new Subject(),
      clock: stage.clock,
      windowMs: 10,
      maxUris: 100,
      watch: (uri, tell) => resources.watch(uri, tell),
    });
  }, SLOW_MS);
  afterEach(() => {
    for (const subscriber of subscribers.splice(0)) subscriber.close();
  });
  afterAll(async () => {
    updates?.stop();
    await stage?.supervised.stop();
    await io?.end();
  }, SLOW_MS);

  test('a state is read by its id, whatever characters that has', async () => {
    expect(await read('iobstate://hue.0.lamp.on')).toMatchObject({ id: 'hue.0.lamp.on', value: true, ack: true });
    expect(await read('iobstate://far.0.a%2Fb')).toMatchObject({ value: 2 });
    await expect(read('iobstate://hue.0.nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('a pattern is read as all that fit', async () => {
    const { states, total } = await read('iobstate://far.0.*');
    expect(states.map(({ id }: { id: string }) => id)).toEqual(['far.0.a.x', 'far.0.a/b']);
    expect(total).toBe(2);
    const { objects } = await read('iobobject://hue.0.*');
    expect(objects).toMatchObject([{ id: 'hue.0.lamp.on', type: 'state' }]);
  });

  test('whoever subscribes to a state is told of its changes, also where it does not come in', async () => {
    const told = subscribe('iobstate://hue.0.lamp.on', 'iobstate://far.0.a.x');
    let n = 0;
    await until(told, 'iobstate://far.0.a.x', () => io.setState('far.0.a.x', ++n));
    await until(told, 'iobstate://hue.0.lamp.on', () => io.setState('hue.0.lamp.on', ++n % 2 === 0));
  });

  test('a pattern notifies, and only when something that fits has changed', async () => {
    const told = subscribe('iobstate://far.*.x', 'iobstate://hue.*.off');
    let n = 0;
    await until(told, 'iobstate://far.*.x', () => io.setState('far.0.a.x', ++n));
    expect(told).not.toContain('iobstate://hue.*.off');
  });

  test('an object tells its changes, and its end', async () => {
    const told = subscribe('iobobject://far.0.z.*');
    let n = 0;
    await until(told, 'iobobject://far.0.z.*', () =>
      io.addState('far.0.z.new', { name: `z${++n}`, type: 'number', role: 'value' }, n),
    );
    told.length = 0;
    await io.deleteObject('far.0.z.new');
    await eventually(() => told.includes('iobobject://far.0.z.*'), 'the end', PATIENCE_MS);
  });

  test('the log is told by source, or all of it', async () => {
    const told = subscribe('ioblog://hue.0', 'ioblog://all', 'ioblog://zigbee.0');
    await until(told, 'ioblog://hue.0', () => io.log({ severity: 'warn', message: 'hue.0 (1) so so', from: 'hue.0' }));
    await eventually(() => told.includes('ioblog://all'), 'all', PATIENCE_MS);
    expect(told).not.toContain('ioblog://zigbee.0');
    const { lines } = await read('ioblog://hue.0');
    expect(lines[0]).toMatchObject({ level: 'warn', message: 'so so' });
  });

  test(
    'a subscription outlives a restart of the adapter, and is told that all may have changed',
    async () => {
      const told = subscribe('iobstate://far.0.a.x');
      let n = 100;
      await until(told, 'iobstate://far.0.a.x', () => io.setState('far.0.a.x', ++n));
      await io.stopAdapter('ws');
      await eventually(() => stage.sink.lines.some(line => line.startsWith('offline')), 'offline', PATIENCE_MS);
      told.length = 0;
      await io.startAdapter('ws');
      await eventually(
        async () => {
          await stage.clock.jump(1_000);
          return told.includes('iobstate://far.0.a.x');
        },
        'the notice of the gap',
        PATIENCE_MS,
      );
      told.length = 0;
      await until(told, 'iobstate://far.0.a.x', () => io.setState('far.0.a.x', ++n));
    },
    SLOW_MS,
  );
});
