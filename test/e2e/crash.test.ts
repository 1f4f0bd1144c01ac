// kill -9 of the real process while rules hold, wait and queue: all go on, once, with their original due times. What they
// did is counted outside, by an HTTP server from which no crash of the gateway takes anything.
import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { type Answer, type GatewayProcess, gatewayKit, type Home } from '../kit/gateway-process.ts';
import { connectMqtt } from '../kit/mqtt-client.ts';
import { type Receiver, startReceiver } from '../kit/receiver.ts';
import { commitsOf, copyCut, cutWal } from '../kit/wal.ts';

const kit = gatewayKit();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await kit.end();
  receiver.deliveries.length = 0;
});
afterAll(() => receiver.stop());

/** How late things may be on a busy machine. */
const SLACK_MS = 3_000;

const post = (path: string, more: object = {}) => ({
  type: 'http',
  url: `${receiver.url}${path}`,
  method: 'POST',
  ...more,
});
const opened = (hold?: number) => ({
  type: 'state',
  device: 'virtual:door',
  attribute: 'contact',
  to: 'open',
  ...(hold !== undefined && { for: `${hold}ms` }),
});
const homeWith = (rules: Record<string, object>): Home =>
  kit.home({
    config: { security: { egress: { allow: ['127.0.0.1'] } } },
    house: { notifiers: { phone: { type: 'webhook', url: `${receiver.url}/slow/phone` } }, default_notifier: 'phone' },
    rules: Object.fromEntries(Object.entries(rules).map(([id, rule]) => [`${id}.yaml`, { id, name: id, ...rule }])),
  });

/** Rules that wait as long: a hold, a delay, and runs one after the other. */
const waiting = (ms: number) => ({
  hold: { triggers: [opened(ms)], actions: [post('/hold')] },
  delay: {
    triggers: [opened()],
    actions: [post('/delay/before'), { id: 'wait', type: 'delay', for: `${ms}ms` }, post('/delay/after')],
  },
  queue: {
    mode: { type: 'queued' },
    triggers: [{ type: 'mqtt', topic: 'bell' }],
    actions: [post('/queue/{{ args.n }}'), { id: 'wait', type: 'delay', for: `${ms}ms` }],
  },
  marker: { triggers: [{ type: 'mqtt', topic: 'marker' }], actions: [post('/marker')] },
});

/** Opens the door and asks for some runs in a row; when the hold began. All is acknowledged, and both delays run. */
async function setGoing(gateway: GatewayProcess, queued: number): Promise<number> {
  await gateway.call('create_device', { name: 'door', capabilities: ['contact'], values: { contact: 'closed' } });
  const from = Date.now();
  await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'open' });
  for (let n = 1; n <= queued; n++) await gateway.call('run_rule', { id: 'queue', args: { n } });
  const isWaiting = async (rule: string) => {
    const [running] = (await tracesOf(gateway, rule)).filter(trace => trace.outcome === 'running');
    return running?.steps.at(-1)?.type === 'delay';
  };
  await eventually(async () => (await isWaiting('delay')) && (await isWaiting('queue')), 'both delays');
  return from;
}

async function tracesOf(gateway: GatewayProcess, rule: string): Promise<Answer[]> {
  const { runs } = await gateway.call('list_runs', { rule, limit: 50 });
  return Promise.all(runs.map(({ run }: { run: string }) => gateway.call('get_run', { run })));
}

/** The trace of a rule's one run, once that has ended. */
const ended = (gateway: GatewayProcess, rule: string): Promise<Answer> =>
  eventually(
    async () => (await tracesOf(gateway, rule)).find(trace => trace.outcome !== 'running'),
    `the end of ${rule}`,
    10_000,
  );

/** Something that was asked for now has happened: what was to happen before has, too. */
async function settled(gateway: GatewayProcess): Promise<void> {
  const before = receiver.to('/marker').length;
  await gateway.call('run_rule', { id: 'marker' });
  await eventually(() => receiver.to('/marker').length > before, 'the marker', 10_000);
}

const paths = () =>
  receiver.deliveries
    .map(({ path }) => path)
    .filter(path => path !== '/marker')
    .sort();

describe('kill -9 in the middle of a hold, a delay and a queue', () => {
  it('loses nothing: all go on at their original time, once, also over a second kill', async () => {
    const ms = 6_000;
    const home = homeWith(waiting(ms));
    const first = await kit.start(home);
    const from = await setGoing(first, 2);
    await first.kill();
    const second = await kit.start(home);
    const readyAt = Date.now();

    await eventually(
      () =>
        receiver.to('/hold').length > 0 && receiver.to('/delay/after').length > 0 && receiver.to('/queue/2').length > 0,
      'all three',
      ms + SLACK_MS,
    );
    for (const [path, began] of [
      ['/hold', from],
      ['/delay/after', receiver.to('/delay/before')[0]?.at ?? 0],
      ['/queue/2', receiver.to('/queue/1')[0]?.at ?? 0],
    ] as const) {
      const at = receiver.to(path)[0]?.at ?? 0;
      expect(at - began, `${path} is not early`).toBeGreaterThanOrEqual(ms - 20);
      expect(at - Math.max(began + ms, readyAt), `${path} is not late`).toBeLessThan(SLACK_MS);
    }
    expect(await ended(second, 'hold')).toMatchObject({ outcome: 'completed', trigger: 't1' });

    await settled(second);
    await second.kill();
    const third = await kit.start(home);
    await settled(third);
    expect(paths()).toEqual(['/delay/after', '/delay/before', '/hold', '/queue/1', '/queue/2']);
    const outcomes = (await tracesOf(third, 'queue')).map(trace => trace.outcome);
    expect(outcomes).toEqual([expect.stringMatching(/running|completed/), 'completed']);
  }, 60_000);

  it.each(['kill -9', 'a power cut'])(
    'over %s that lasts beyond the due time: fires late, once, and says how late',
    async how => {
      const ms = 2_500;
      const home = homeWith(waiting(ms));
      const first = await kit.start(home);
      await first.call('create_device', { name: 'meter', capabilities: ['temperature'], values: { temperature: 1 } });
      const from = await setGoing(first, 2);
      const wal = join(home.data, 'causeway.db-wal');
      const synced = statSync(wal).size;
      // A value that no rule looks at is stored lazily.
      await first.call('set_device_value', { device: 'virtual:meter', attribute: 'temperature', value: 2 });
      await eventually(() => statSync(wal).size > synced, 'the lazy commit');
      await first.kill();
      if (how === 'a power cut') cutWal(join(home.data, 'causeway.db'), synced);
      expect(paths()).toEqual(['/delay/before', '/queue/1']);
      // The outage: nothing is synchronised by this, time itself has to pass.
      await pause(Math.max(0, from + 2 * ms - Date.now()));
      const started = Date.now();
      const second = await kit.start(home);
      await eventually(() => paths().length === 5, 'all three', 10_000);
      await settled(second);
      expect(paths()).toEqual(['/delay/after', '/delay/before', '/hold', '/queue/1', '/queue/2']);

      const hold = await ended(second, 'hold');
      expect(hold).toMatchObject({ outcome: 'completed' });
      expect(hold.lateMs).toBeGreaterThanOrEqual(started - (from + ms) - 100);
      expect(hold.lateMs).toBeLessThan(Date.now() - from);
      const delay = await ended(second, 'delay');
      expect(delay.outcome).toBe('completed');
      expect(delay.steps.find((step: Answer) => step.type === 'delay').ms).toBeGreaterThan(ms);
      // What lay behind the last sync is gone with a power cut, and only that.
      const meter = await second.call('get_device', { device: 'virtual:meter' });
      expect(meter.attributes.temperature.value).toBe(how === 'a power cut' ? 1 : 2);
    },
    60_000,
  );
});

describe('what was on its way when the process died', () => {
  it.each(['kill -9', 'a stop'])(
    'at %s ends in doubt, and is not sent again where once is not the same as twice',
    async how => {
      const home = homeWith({
        request: { triggers: [opened()], actions: [post('/slow/request'), post('/never')] },
        tolerant: { triggers: [opened()], actions: [post('/slow/tolerant', { on_error: 'continue' }), post('/then')] },
        message: { triggers: [opened()], actions: [{ type: 'notify', message: 'open' }] },
        marker: waiting(0).marker,
      });
      const first = await kit.start(home);
      await first.call('create_device', { name: 'door', capabilities: ['contact'], values: { contact: 'closed' } });
      await first.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'open' });
      const sent = ['/slow/phone', '/slow/request', '/slow/tolerant'];
      await eventually(() => paths().length === 3, 'three on their way');
      expect(paths()).toEqual(sent);
      if (how === 'kill -9') await first.kill();
      else {
        // It waits for nobody's answer.
        const from = performance.now();
        expect(await first.stop()).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/error/i) });
        expect(performance.now() - from).toBeLessThan(5_000);
      }

      const second = await kit.start(home);
      await eventually(() => receiver.to('/then').length > 0, 'the step after');
      await settled(second);
      expect(paths()).toEqual([...sent, '/then']);
      const request = await ended(second, 'request');
      expect(request).toMatchObject({ outcome: 'in_doubt', steps: [{ type: 'http', outcome: 'in_doubt' }] });
      const tolerant = await ended(second, 'tolerant');
      expect(tolerant).toMatchObject({ outcome: 'completed_with_errors' });
      const message = await ended(second, 'message');
      expect(message).toMatchObject({ outcome: 'in_doubt' });
    },
    40_000,
  );

  it('is a toggle that stays in doubt, and an "on" that is sent again', async () => {
    const bell = [{ type: 'mqtt', topic: 'bell' }];
    const home = homeWith({
      toggles: { triggers: bell, actions: [{ type: 'command', device: 'virtual:left', command: 'toggle' }] },
      switches: { triggers: bell, actions: [{ type: 'command', device: 'virtual:right', command: 'on' }] },
    });
    const first = await kit.start(home);
    for (const name of ['left', 'right']) {
      await first.call('create_device', { name, capabilities: ['switch'], values: { switch: 'off' } });
    }
    const outside = await connectMqtt(first.mqttUrl);
    await outside.publish('bell', 'ring');
    const hasRun = async (rule: string) => (await tracesOf(first, rule)).some(trace => trace.outcome === 'completed');
    await eventually(async () => (await hasRun('toggles')) && (await hasRun('switches')), 'both');
    await outside.end();
    await first.kill();

    // Virtual devices answer at once, so a kill seldom falls between: the log is cut to where both had just been committed.
    const database = join(home.data, 'causeway.db');
    const cut = commitsOf(database).find(size => inFlight(database, size).join() === 'on,toggle');
    expect(cut).toBeDefined();
    cutWal(database, cut ?? 0);

    const second = await kit.start(home);
    const toggles = await ended(second, 'toggles');
    expect(toggles).toMatchObject({
      outcome: 'in_doubt',
      steps: [{ type: 'command', command: 'toggle', outcome: 'in_doubt' }],
    });
    const switchOf = async (device: string) => (await second.call('get_device', { device })).attributes.switch.value;
    await eventually(async () => (await switchOf('virtual:right')) === 'on', 'the command that was sent again');
    expect(await switchOf('virtual:left')).toBe('off');
    expect(await ended(second, 'switches')).toMatchObject({ outcome: 'completed' });
  }, 40_000);
});

/** The commands that were on their way after a commit. */
function inFlight(database: string, size: number): string[] {
  const copy = copyCut(database, size);
  const db = new Sqlite(copy, { readonly: true });
  try {
    const rows = db.prepare('SELECT value FROM outbox').pluck().all() as string[];
    return rows.map(row => JSON.parse(row).command.command).sort();
  } finally {
    db.close();
    rmSync(dirname(copy), { recursive: true });
  }
}
