// Verbs that talk to a running gateway, over its real REST.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../../src/cli/parts.ts';
import { eventually } from '../../kit/eventually.ts';
import { cli, startCli } from '../../kit/fake-cli.ts';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';

let gateway: FakeGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startGateway();
  folder = await mkdtemp(join(tmpdir(), 'causeway-cli-'));
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

const run = (argv: string[], options: { stdin?: string } = {}) =>
  cli(argv, { env: { CAUSEWAY_URL: gateway.url }, cwd: folder, ...options });

describe('rule', () => {
  it('lists and shows rules', async () => {
    expect((await run(['rule', 'list'])).out).toMatch(
      /^ID +ENABLED +STATUS +LAST_RUN +NAME\nattic-fan +- +- +- +Attic fan\n$/,
    );
    expect((await run(['rule', 'get', 'attic-fan'])).out).toBe('id: attic-fan\nname: Attic fan\n');
    expect(JSON.parse((await run(['rule', 'get', 'attic-fan', '--json'])).out)).toEqual({
      rule: { id: 'attic-fan', name: 'Attic fan' },
    });
  });

  it('makes one from YAML, from a file or standard input, dry first', async () => {
    await writeFile(join(folder, 'porch.yaml'), 'id: porch # ours\nname: Porch\n');
    expect((await run(['rule', 'create', 'porch.yaml', '--dry-run'])).out).toBe('porch: would be created\n');
    expect(gateway.views.rules.has('porch')).toBe(false);
    expect((await run(['rule', 'create', 'porch.yaml'])).out).toBe('porch: created\n');
    await run(['rule', 'create', '-'], { stdin: '{"id":"hall","name":"Hall"}' });
    expect(gateway.views.rules.get('hall')).toEqual({ id: 'hall', name: 'Hall' });
    expect(gateway.views.calls.at(-1)?.context.caller.via).toBe('cli');
  });

  it('wants --yes before it deletes', async () => {
    gateway.views.rules.set('old', { id: 'old' });
    expect(await run(['rule', 'delete', 'old'])).toMatchObject({ code: 4, err: expect.stringContaining('add --yes') });
    expect((await run(['rule', 'delete', 'old', '--yes'])).code).toBe(0);
    expect(gateway.views.rules.has('old')).toBe(false);
  });

  it('shows the gateway’s error and the place in a file that does not parse', async () => {
    expect(await run(['rule', 'get', 'nobody'])).toEqual({
      code: 4,
      out: '',
      err: 'RULE_NOT_FOUND: id: there is no rule "nobody"\n  did you mean "attic-fan"?\n',
    });
    expect((await run(['rule', 'create', 'absent.yaml'])).err).toContain('absent.yaml cannot be read');
    expect((await run(['rule', 'create', '-'], { stdin: 'id: [1' })).err).toMatch(/-:1:\d+/);
  });
});

describe('device', () => {
  it('sends a command with its arguments', async () => {
    expect((await run(['device', 'command', 'virtual:lamp', 'setLevel', 'level=50'])).code).toBe(0);
    expect(gateway.views.calls.at(-1)?.input).toEqual({
      device: 'virtual:lamp',
      command: 'setLevel',
      args: { level: 50 },
    });
  });
});

describe('events --follow', () => {
  it('prints events as they come, until it is interrupted', async () => {
    const following = startCli(['events', '--follow', '--device', 'virtual:b'], { env: { CAUSEWAY_URL: gateway.url } });
    await eventually(() => gateway.events$.observed, 'the stream');
    const event = { ts: 'now', attribute: 'switch', value: 'on', change: 'changed', kind: 'state' };
    gateway.events$.next({ id: '1', device: 'virtual:a', ...event } as never);
    gateway.events$.next({ id: '2', device: 'virtual:b', ...event } as never);
    await eventually(() => following.out() !== '');
    expect(following.out()).toBe('now  virtual:b  switch = on\n');
    following.interrupt();
    expect(await following.done).toBe(0);
    await eventually(() => !gateway.events$.observed, 'the end of the stream');
  });
});

describe('mcp', () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const stdin = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;

  it('forwards to the running gateway', async () => {
    const { code, out, err } = await run(['mcp'], { stdin });
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { serverInfo: { name: 'causeway' } } });
  });

  it('runs the gateway itself with --standalone, its log on stderr, and stops it when the client goes', async () => {
    const asked: string[] = [];
    const serve = (options: ServeOptions) =>
      new Promise<void>(resolve => {
        options.signal.addEventListener('abort', () => resolve());
        asked.push(options.log);
        options.onReady?.(gateway.url);
      });
    const { code, out } = await cli(['mcp', '--standalone'], { stdin, parts: { serve } });
    expect([code, asked]).toEqual([0, ['stderr']]);
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { serverInfo: { name: 'causeway' } } });
  });
});

describe('a gateway with users', () => {
  it('wants the token, and says how to get one', async () => {
    const closed = await startGateway({ people: [person('vera', 'read')] });
    const env = { CAUSEWAY_URL: closed.url };
    expect(await cli(['rule', 'list'], { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining('causeway user token NAME'),
    });
    expect((await cli(['rule', 'list', '--token', 'vera-token'], { env })).code).toBe(0);
    expect((await cli(['rule', 'list'], { env: { ...env, CAUSEWAY_TOKEN: 'vera-token' } })).code).toBe(0);
    await closed.stop();
  });

  it('shows a new token once', async () => {
    const { out } = await run(['user', 'add', 'otto', '--role', 'viewer']);
    expect(out).toBe('otto: added\ntoken (shown only now):\nmade-for-you\n');
  });
});
