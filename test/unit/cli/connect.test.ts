import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLIENTS } from '../../../src/cli/connect-clients.ts';
import { cli } from '../../kit/fake-cli.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-connect-'));
});
afterEach(() => rm(folder, { recursive: true }));

const connect = (client: string, argv: string[] = [], env: Record<string, string> = {}) =>
  cli(['connect', client, ...argv], { env, cwd: folder, home: folder });
const HOUSE = { CAUSEWAY_URL: 'http://house:8480', CAUSEWAY_TOKEN: 's3cret' };

describe('connect', () => {
  it('prints the command for Claude Code', async () => {
    expect((await connect('claude-code')).out).toBe(
      'claude mcp add --transport http causeway http://127.0.0.1:8480/mcp\n',
    );
    expect((await connect('claude-code', [], HOUSE)).out).toBe(
      `claude mcp add --transport http causeway http://house:8480/mcp --header 'Authorization: Bearer s3cret'\n`,
    );
  });

  it('starts the stdio bridge from Claude Desktop, with this Node and this command', async () => {
    const { out } = await connect('claude-desktop', [], HOUSE);
    expect(JSON.parse(out.slice(out.indexOf('{')))).toEqual({
      mcpServers: {
        causeway: {
          command: process.execPath,
          args: ['/opt/causeway/bin/causeway.mjs', 'mcp'],
          env: { CAUSEWAY_URL: 'http://house:8480', CAUSEWAY_TOKEN: 's3cret' },
        },
      },
    });
  });

  it.each([
    [
      'vscode',
      '.vscode/mcp.json',
      {
        servers: {
          causeway: { type: 'http', url: 'http://house:8480/mcp', headers: { Authorization: 'Bearer s3cret' } },
        },
      },
    ],
    [
      'cursor',
      '.cursor/mcp.json',
      { mcpServers: { causeway: { url: 'http://house:8480/mcp', headers: { Authorization: 'Bearer s3cret' } } } },
    ],
  ])('prints the file of %s', async (client, file, content) => {
    const { out } = await connect(client, [], HOUSE);
    expect(out).toContain(file);
    expect(JSON.parse(out.slice(out.indexOf('{')))).toEqual(content);
  });

  it('prints commands for the Inspector and mosquitto, and a flow for Node-RED', async () => {
    expect((await connect('inspector', [], HOUSE)).out).toContain(
      `--cli http://house:8480/mcp --transport http --method tools/list --header 'Authorization: Bearer s3cret'`,
    );
    expect((await connect('mosquitto')).out).toContain(`mosquitto_sub -h 127.0.0.1 -p 1883 -v -t 'causeway/event/#'`);
    expect((await connect('mosquitto', ['--mqtt-host', 'house', '--user', 'vera'])).out).toContain(
      '-h house -p 1883 -u vera -P PASSWORD',
    );
    const { out } = await connect('node-red', ['--mqtt-port', '1884']);
    const flow = JSON.parse(out.slice(out.indexOf('['), out.lastIndexOf(']') + 1));
    expect(flow).toContainEqual(expect.objectContaining({ type: 'mqtt-broker', broker: '127.0.0.1', port: '1884' }));
  });

  it('names the nearest client when it knows none of this name', async () => {
    expect(await connect('claude-cod')).toMatchObject({
      code: 4,
      err: expect.stringContaining('did you mean "claude-code"?'),
    });
  });

  it('writes nothing without --write', async () => {
    for (const client of Object.keys(CLIENTS)) await connect(client);
    await expect(stat(join(folder, '.cursor'))).rejects.toThrow();
    await expect(stat(join(folder, '.mcp.json'))).rejects.toThrow();
  });

  it('adds itself with --write beside what is there, readable by nobody else', async () => {
    const file = join(folder, '.mcp.json');
    await writeFile(file, '{"mcpServers":{"other":{"url":"http://x"}},"more":1}');
    expect((await connect('claude-code', ['--write'], HOUSE)).out).toContain('keep it private');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      mcpServers: {
        other: { url: 'http://x' },
        causeway: { type: 'http', url: 'http://house:8480/mcp', headers: { Authorization: 'Bearer s3cret' } },
      },
      more: 1,
    });
    await connect('cursor', ['--write']);
    expect((await stat(join(folder, '.cursor/mcp.json'))).mode & 0o077).toBe(0);
  });

  it('leaves a file alone that it cannot read, and says so', async () => {
    const file = join(folder, '.mcp.json');
    await writeFile(file, '// mine\n{}');
    expect(await connect('claude-code', ['--write'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('by hand'),
    });
    expect(await readFile(file, 'utf8')).toBe('// mine\n{}');
    expect((await connect('mosquitto', ['--write'])).code).toBe(4);
  });
});
