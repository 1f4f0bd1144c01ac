// A disk that runs full under a running gateway: it says so, releases nothing that is not stored, loses nothing that it
// acknowledged, and goes on by itself once there is space. On a small tmpfs, where one may be mounted.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { CallError, type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';

const TOOLS = { mount: 'mount', umount: 'umount' };
const disk = smallDisk('8m');
const rulesDisk = smallDisk('64k');
const why = disk === undefined ? ' (skipped: no tmpfs can be mounted here)' : '';

describe.skipIf(disk === undefined)(`a full disk${why}`, () => {
  const kit = gatewayKit();
  const ballast = join(disk ?? '', 'ballast');
  let gateway: GatewayProcess;
  let watcher: TestMqtt;

  beforeAll(async () => {
    const rules = {
      'follow.yaml': {
        id: 'follow',
        name: 'follow',
        triggers: [{ type: 'state', device: 'virtual:lamp', attribute: 'switch' }],
        actions: [{ type: 'publish', topic: 'out/lamp', payload: '{{ trigger.value }}', qos: 1 }],
      },
      'count.yaml': {
        id: 'count',
        name: 'count',
        triggers: [{ type: 'mqtt', topic: 'in/count' }],
        actions: [{ type: 'set_variable', name: 'counted', add: 1 }],
      },
    };
    const house = { variables: { counted: { type: 'number', initial: 0 } } };
    const home = kit.home({ config: { data: { dir: disk ?? '' }, rules: { dir: rulesDisk ?? '' } }, house });
    for (const [file, rule] of Object.entries(rules)) home.write(join(rulesDisk ?? '', file), rule);
    gateway = await kit.start(home);
    watcher = await connectMqtt(gateway.mqttUrl, ['out/#']);
    await gateway.call('create_device', { name: 'lamp', capabilities: ['switch'], values: { switch: 'off' } });
  }, 60_000);
  afterAll(async () => {
    await watcher?.end();
    await gateway?.kill();
    for (const each of [disk, rulesDisk]) {
      if (each === undefined) continue;
      execFileSync(TOOLS.umount, [each]);
      rmSync(each, { recursive: true });
    }
    await kit.end();
  });

  const status = async () => (await (await fetch(`${gateway.url}/status`)).json()) as { parts: { store: object } };
  const isReady = () => fetch(`${gateway.url}/readyz`).then(answer => answer.ok);
  /** The log has room of its own, so it takes some until the disk is felt. */
  const untilFull = (act: () => Promise<void>) =>
    eventually(async () => act().then(async () => !(await isReady())), 'a full disk', 15_000);
  let total = 0;
  const counted = async () => (await gateway.call('list_variables')).variables[0].value;

  it('is told, and holds back what cannot be stored, until there is space; then all of it happens', async () => {
    fill(ballast);
    const late = gateway.call('send_command', { device: 'virtual:lamp', command: 'on' });
    late.catch(() => {});
    let sent = 0;
    await untilFull(async () => {
      await watcher.publish('in/count', 'one');
      sent++;
    });
    expect((await status()).parts.store).toMatchObject({ ok: false, note: expect.stringMatching(/is full/) });
    expect(
      gateway
        .log()
        .some(line => Number(line.level) >= 50 && /cannot be stored.*free disk space/.test(String(line.msg))),
    ).toBe(true);

    // What is acknowledged is stored: so these are refused, with what to do.
    for (const refused of [
      gateway.call('create_rule', {
        rule: { id: 'new', name: 'new', triggers: [{ type: 'startup' }], actions: [{ type: 'log', message: 'x' }] },
      }),
      gateway.call('add_user', { name: 'ann', role: 'admin', password: 'long enough' }),
    ]) {
      const error: unknown = await refused.catch(thrown => thrown);
      expect(error).toBeInstanceOf(CallError);
      expect((error as CallError).error).toMatchObject({
        code: 'DATA_UNWRITABLE',
        hint: expect.stringMatching(/space/),
      });
    }

    rmSync(ballast);
    expect(await late).toMatchObject({ outcome: 'ok' });
    await eventually(() => watcher.under('out/lamp').length > 0, 'the rule');
    await eventually(async () => (await counted()) === sent, 'all that was counted');
    total = sent;
    await eventually(isReady, 'ready again');
    expect(watcher.under('out/lamp').map(({ text }) => text)).toEqual(['on']);
    expect(gateway.log().some(line => /the store takes changes again/.test(String(line.msg)))).toBe(true);
  }, 60_000);

  it('keeps everything acknowledged, before and after, over a kill while it is full', async () => {
    fill(ballast);
    const acknowledged: string[] = [];
    let asked = 0;
    await untilFull(async () => {
      const name = `device-${asked++}`;
      gateway.call('create_device', { name, capabilities: ['switch'] }).then(
        ({ id }) => acknowledged.push(id),
        () => {},
      );
    });
    expect(acknowledged.length).toBeLessThan(asked);
    await gateway.kill();
    rmSync(ballast);
    gateway = await kit.start(gateway.home);
    const { devices } = await gateway.call('list_devices', { backend: 'virtual' });
    expect(devices.map((device: { id: string }) => device.id)).toEqual(
      expect.arrayContaining(['virtual:lamp', ...acknowledged]),
    );
    expect(await counted()).toBe(total);
    const { rules } = await gateway.call('list_rules');
    expect(rules.map((rule: { id: string; status: string }) => [rule.id, rule.status])).toEqual([
      ['count', 'ok'],
      ['follow', 'ok'],
    ]);
    await gateway.call('send_command', { device: 'virtual:lamp', command: 'off' });
  }, 60_000);

  it('of the rule files refuses what does not fit, and leaves the rule and its revisions as they were', async () => {
    const file = join(rulesDisk ?? '', 'count.yaml');
    const before = readFileSync(file, 'utf8');
    const { revision } = await gateway.call('get_rule', { id: 'count' });
    const inTheWay = join(rulesDisk ?? '', 'ballast');
    fill(inTheWay);
    const change = { id: 'count', patch: { description: 'new' } };
    const error: unknown = await gateway.call('update_rule', change).catch(thrown => thrown);
    rmSync(inTheWay);
    expect((error as CallError).error).toMatchObject({ code: 'DATA_UNWRITABLE' });
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(readdirSync(rulesDisk ?? '').sort()).toEqual(['count.yaml', 'follow.yaml']);

    const { revision: last, rule } = await gateway.call('get_rule', { id: 'count' });
    expect(rule.description).toBeUndefined();
    const updated = await gateway.call('update_rule', { id: 'count', patch: { description: 'short' }, revision: last });
    expect(updated).toMatchObject({ revision: last + 1, rule: { description: 'short' } });
    const { revisions } = await gateway.call('list_revisions', { id: 'count' });
    expect(revisions.map((each: { revision: number; via: string }) => [each.revision, each.via])).toEqual([
      [revision + 3, 'rest'],
      [revision + 2, 'file'],
      [revision + 1, 'rest'],
      [revision, 'file'],
    ]);
  });
});

/** A mounted tmpfs; undefined where that is not allowed. */
function smallDisk(size: string): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-disk-'));
  try {
    execFileSync(TOOLS.mount, ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return undefined;
  }
}

/** Leaves not a byte. */
function fill(file: string): void {
  for (const size of [64 * 1024, 1024, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
