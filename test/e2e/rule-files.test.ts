// Rule files edited by hand while the gateway runs, and by clients over MCP beside it: the file stays its author's.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { CallError, type GatewayProcess, gatewayKit, type Home } from '../kit/gateway-process.ts';
import { connectV1 } from '../kit/mcp-clients.ts';
import { connectMqtt, type TestMqtt } from '../kit/mqtt-client.ts';

const kit = gatewayKit();
let home: Home;
let gateway: GatewayProcess;
let watcher: TestMqtt;
let assistant: Awaited<ReturnType<typeof connectV1>>;

const text = (answer: string) => `# Rings the bell.
id: bell
name: Bell
triggers:
  # From the garden gate.
  - { type: mqtt, topic: in/bell } # a push button
actions:
  - { type: publish, topic: out/bell, payload: ${answer} }   # whoever listens
`;

beforeAll(async () => {
  home = kit.home({ rules: { 'garden/bell.yaml': text('one') } });
  gateway = await kit.start(home);
  watcher = await connectMqtt(gateway.mqttUrl, ['out/#', 'causeway/rule/#']);
  assistant = await connectV1(gateway.url);
  await gateway.call('create_device', { name: 'door', capabilities: ['contact'], values: { contact: 'closed' } });
}, 60_000);
afterAll(async () => {
  await watcher?.end();
  await assistant?.client.close();
  await kit.end();
});

async function answers(expected: string): Promise<void> {
  const before = watcher.under('out/bell').length;
  await watcher.publish('in/bell', 'ring');
  const answer = await eventually(() => watcher.under('out/bell')[before], 'an answer');
  expect(answer?.text).toBe(expected);
}

const rule = (id = 'bell') => gateway.call('get_rule', { id });
const revisions = async (id = 'bell') =>
  (await gateway.call('list_revisions', { id })).revisions.map(
    (each: { revision: number; author: string; via: string }) => [each.revision, each.author, each.via],
  );
const atRevision = (revision: number) =>
  eventually(async () => (await rule()).revision === revision, `revision ${revision}`);

describe('a file edited by hand', () => {
  it('changes the rule at once and becomes a revision by file, told on MQTT', async () => {
    await answers('one');
    expect(await rule()).toMatchObject({ revision: 1, file: 'garden/bell.yaml', status: 'ok' });
    home.write('rules/garden/bell.yaml', text('two'));
    await atRevision(2);
    await answers('two');
    expect(await revisions()).toEqual([
      [2, 'file', 'file'],
      [1, 'file', 'file'],
    ]);
    const states = watcher.messages.filter(({ topic }) => topic === 'causeway/rule/bell/state');
    expect(states.some(({ json }) => json.revision === 2)).toBe(true);
    const events = watcher.messages.filter(({ topic }) => topic === 'causeway/rule/bell/event');
    expect(events.map(({ json }) => json.event)).toContain('updated');
  });

  it('is seen too where an editor writes beside it and renames', async () => {
    home.write('rules/garden/.bell.yaml.swp', text('three'));
    renameSync(join(home.dir, 'rules/garden/.bell.yaml.swp'), join(home.dir, 'rules/garden/bell.yaml'));
    await atRevision(3);
    await answers('three');
  });

  it('that says the same in other words is no revision', async () => {
    home.write('rules/garden/bell.yaml', `${text('three')}# a last word\n`);
    home.write('rules/marker.yaml', {
      id: 'marker',
      name: 'marker',
      triggers: [{ type: 'mqtt', topic: 'm' }],
      actions: [{ type: 'log', message: 'm' }],
    });
    await eventually(async () => (await gateway.call('list_rules')).rules.length === 2, 'the marker');
    expect((await rule()).revision).toBe(3);
    expect(await revisions()).toHaveLength(3);
  });
});

describe('an update over MCP', () => {
  it('keeps the comments and the rest of the file as its author wrote them', async () => {
    const updated = await assistant.client.callTool({
      name: 'update_rule',
      arguments: {
        id: 'bell',
        revision: 3,
        patch: { actions: [{ type: 'publish', topic: 'out/bell', payload: 'four' }] },
      },
    });
    expect(updated.structuredContent).toMatchObject({ revision: 4 });
    await answers('four');
    expect(home.read('rules/garden/bell.yaml')).toBe(`${text('four')}# a last word\n`);
    expect((await revisions())[0]).toEqual([4, 'local', 'mcp']);
  });

  it('of a revision that is not the last any more is refused, also when the file has changed a moment ago', async () => {
    const stale = await assistant.client.callTool({
      name: 'update_rule',
      arguments: { id: 'bell', revision: 3, patch: { name: 'Mine' } },
    });
    expect(stale).toMatchObject({ isError: true });
    expect(JSON.stringify(stale.content)).toMatch(/REVISION_CONFLICT.*revision 4/s);

    const { revision } = await rule();
    home.write('rules/garden/bell.yaml', text('five'));
    // Before anything can have noticed the file.
    const raced: unknown = await gateway
      .call('update_rule', { id: 'bell', revision, patch: { name: 'Mine' } })
      .catch(thrown => thrown);
    expect(raced).toBeInstanceOf(CallError);
    expect((raced as CallError).error).toMatchObject({
      code: 'REVISION_CONFLICT',
      details: { revision: revision + 1 },
    });
    expect(home.read('rules/garden/bell.yaml')).toBe(text('five'));
    await answers('five');
    expect((await revisions())[0]).toEqual([5, 'file', 'file']);
  });

  it('leaves its own writing unnoticed as a change by hand', async () => {
    await gateway.call('update_rule', { id: 'bell', patch: { name: 'By REST' } });
    // A change by hand elsewhere is noticed later than that one would be.
    home.write('rules/marker.yaml', {
      id: 'marker',
      name: 'changed',
      triggers: [{ type: 'mqtt', topic: 'm' }],
      actions: [{ type: 'log', message: 'm' }],
    });
    await eventually(async () => (await rule('marker')).revision === 2, 'the marker');
    expect((await revisions())[0]).toEqual([6, 'local', 'rest']);
  });
});

describe('a hold', () => {
  it('goes on over an edit elsewhere in its rule, and ends with an edit of its trigger', async () => {
    const held = (name: string, hold: string) => ({
      id: 'held',
      name,
      triggers: [{ type: 'state', device: 'virtual:door', attribute: 'contact', to: 'open', for: hold }],
      actions: [{ type: 'publish', topic: 'out/held', payload: name }],
    });
    home.write('rules/held.yaml', held('before', '2s'));
    await eventually(async () => (await gateway.call('list_rules')).rules.length === 3, 'the rule');
    const from = Date.now();
    await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'open' });
    home.write('rules/held.yaml', held('after', '2s'));
    await eventually(() => watcher.under('out/held').length > 0, 'the hold');
    expect(Date.now() - from).toBeGreaterThanOrEqual(1_980);
    expect(watcher.under('out/held').map(each => each.text)).toEqual(['after']);

    await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'closed' });
    await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'open' });
    home.write('rules/held.yaml', held('edited', '3s'));
    const dropped = await eventually(
      async () =>
        (await gateway.call('list_runs', { rule: 'held' })).runs.find(
          (run: { reason?: string }) => run.reason === 'trigger_edited',
        ),
      'the end of the hold',
    );
    expect(dropped).toMatchObject({ outcome: 'cancelled', trigger: 't1' });
  });
});

describe('files and ids', () => {
  const ringing = (id: string, answer: string) => ({
    id,
    name: answer,
    triggers: [{ type: 'mqtt', topic: `in/${id}` }],
    actions: [{ type: 'publish', topic: `out/${id}`, payload: answer }],
  });
  const ids = async (): Promise<string[]> =>
    (await gateway.call('list_rules')).rules.map((each: { id: string }) => each.id);
  const rings = async (id: string, answer: string) => {
    const before = watcher.under(`out/${id}`).length;
    await watcher.publish(`in/${id}`, 'ring');
    expect((await eventually(() => watcher.under(`out/${id}`)[before], `rule ${id}`))?.text).toBe(answer);
  };

  it('a file that is moved keeps its rule, its revision, and what it holds', async () => {
    await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'closed' });
    const fired = watcher.under('out/held').length;
    const { revision } = await rule('held');
    await gateway.call('set_device_value', { device: 'virtual:door', attribute: 'contact', value: 'open' });
    mkdirSync(join(home.dir, 'rules/doors'));
    renameSync(join(home.dir, 'rules/held.yaml'), join(home.dir, 'rules/doors/front.yaml'));
    await eventually(async () => (await rule('held')).file === 'doors/front.yaml', 'the new place');
    await eventually(() => watcher.under('out/held').length > fired, 'the hold');
    expect(await rule('held')).toMatchObject({ revision, status: 'ok' });
    expect((await revisions('held'))[0]?.[0]).toBe(revision);
  });

  it('of two files with one id the second takes over when the first is gone', async () => {
    home.write('rules/pair-a.yaml', ringing('pair', 'first'));
    await eventually(async () => (await ids()).includes('pair'), 'the first');
    home.write('rules/pair-b.yaml', ringing('pair', 'second'));
    await eventually(async () => (await ids()).includes('pair@pair-b.yaml'), 'the second');
    await rings('pair', 'first');
    rmSync(join(home.dir, 'rules/pair-a.yaml'));
    await eventually(async () => (await rule('pair').catch(() => undefined))?.file === 'pair-b.yaml', 'the change');
    await rings('pair', 'second');
    expect((await ids()).filter(id => id.startsWith('pair'))).toEqual(['pair']);
    const { revision } = await rule('pair');
    await gateway.call('delete_rule', { id: 'pair', revision, confirm: true });
    expect((await ids()).filter(id => id.startsWith('pair'))).toEqual([]);
    expect(readdirSync(join(home.dir, 'rules')).filter(name => name.startsWith('pair'))).toEqual([]);
  });

  it('a new rule never takes the file of another one', async () => {
    home.write('rules/chime.yaml', ringing('gong', 'gong'));
    await eventually(async () => (await ids()).includes('gong'), 'the gong');
    const made = await gateway.call('create_rule', { rule: ringing('chime', 'chime') });
    expect(made.file).toBe('chime-2.yaml');
    await rings('gong', 'gong');
    await rings('chime', 'chime');
    expect(home.read('rules/chime.yaml')).toContain('gong');
  });

  it('a file that does not parse can be replaced by a client', async () => {
    home.write('rules/torn.yaml', 'id: torn\nname: [');
    await eventually(async () => (await ids()).includes('torn'), 'the torn one');
    const refused: unknown = await gateway
      .call('update_rule', { id: 'torn', patch: { name: 'Torn' } })
      .catch(thrown => thrown);
    expect((refused as CallError).error).toMatchObject({ code: 'RULE_INVALID' });
    await gateway.call('update_rule', { id: 'torn', rule: ringing('torn', 'whole') });
    await rings('torn', 'whole');
  });
});

describe('a file that is gone', () => {
  it('takes its rule along; what was edited and removed while the gateway was off counts as well', async () => {
    rmSync(join(home.dir, 'rules/marker.yaml'));
    const isListed = async (id: string) =>
      (await gateway.call('list_rules')).rules.some((each: { id: string }) => each.id === id);
    await eventually(async () => !(await isListed('marker')), 'the end of the marker');
    expect((await revisions('marker'))[0]).toEqual([3, 'file', 'file']);
    const state = () => watcher.messages.findLast(({ topic }) => topic === 'causeway/rule/marker/state');
    await eventually(() => state()?.text === '', 'the end of its state');

    const { code } = await gateway.stop();
    expect(code).toBe(0);
    home.write('rules/garden/bell.yaml', text('seven'));
    rmSync(join(home.dir, 'rules/doors/front.yaml'));
    // Its file has another name than its id, and does not parse: the rule goes on as it was.
    home.write('rules/chime.yaml', home.read('rules/chime.yaml').replace('triggers:', 'triggers: ['));
    gateway = await kit.start(home);
    await watcher.end();
    watcher = await connectMqtt(gateway.mqttUrl, ['out/#', 'causeway/rule/#']);
    expect(await rule()).toMatchObject({ revision: 7, status: 'ok' });
    await answers('seven');
    expect((await revisions())[0]).toEqual([7, 'file', 'file']);
    expect((await gateway.call('list_revisions', { id: 'held' })).revisions[0]).toMatchObject({
      body: null,
      via: 'file',
    });
    expect(watcher.under('causeway/rule/held')).toEqual([]);
    expect(await rule('gong')).toMatchObject({ status: 'unavailable', file: 'chime.yaml', revision: 1 });
    await watcher.publish('in/gong', 'ring');
    await eventually(() => watcher.under('out/gong')[0]?.text === 'gong', 'the last good revision');
  }, 40_000);
});
