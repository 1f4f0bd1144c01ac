import { describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../../src/cli/parts.ts';
import { CausewayError } from '../../../src/lib/errors.ts';
import { cli, startCli } from '../../kit/fake-cli.ts';

describe('the command line', () => {
  it('lists its verbs', async () => {
    const { code, out } = await cli(['--help']);
    expect(code).toBe(0);
    for (const verb of [
      'serve',
      'demo',
      'check',
      'simulate',
      'rule',
      'device',
      'events',
      'user',
      'connect',
      'mcp',
      'backup',
      'restore',
    ]) {
      expect(out).toMatch(new RegExp(`^  ${verb}\\b`, 'm'));
    }
    expect(await cli(['--version'])).toMatchObject({ code: 0, out: '1.2.3\n' });
  });

  it('ends with 2 for a line that is wrong', async () => {
    expect(await cli(['rul'])).toMatchObject({ code: 2, err: expect.stringContaining("unknown command 'rul'") });
    expect((await cli(['rule', 'get'])).code).toBe(2);
    expect((await cli(['user', 'add', 'x'])).err).toContain('--role');
    for (const line of ['events -n abc', 'run list --limit 1.5', 'rule update a b.yaml --revision new'])
      expect(await cli(line.split(' '))).toMatchObject({ code: 2, err: expect.stringContaining('whole number') });
  });

  it('ends with 3 when no gateway answers, and says what to do', async () => {
    const { code, err } = await cli(['rule', 'list', '--url', 'http://127.0.0.1:9']);
    expect(code).toBe(3);
    expect(err).toBe(
      'no gateway answers at http://127.0.0.1:9\n  start it with "causeway serve" (or npm start), or say where it runs with --url or CAUSEWAY_URL\n',
    );
    const json = await cli(['--json', 'rule', 'list'], { env: { CAUSEWAY_URL: 'http://127.0.0.1:9' } });
    expect(JSON.parse(json.err).error).toMatchObject({ code: 'UNREACHABLE' });
  });

  it('says the place and the hint of an error once, where its message has them already', async () => {
    const failing = (message: string, path: string, hint: string) => ({
      parts: {
        backup: async () => {
          throw new CausewayError('CONFIG_INVALID', message, { path, hint });
        },
      },
    });
    const near = 'did you mean "port"?';
    expect((await cli(['backup'], failing(`c.yaml:1:9 http/prot: unknown key; ${near}`, 'http/prot', near))).err).toBe(
      `CONFIG_INVALID: c.yaml:1:9 http/prot: unknown key; ${near}\n`,
    );
    expect((await cli(['backup'], failing('role: no such role', 'role', 'use admin'))).err).toBe(
      'CONFIG_INVALID: role: no such role\n  use admin\n',
    );
  });

  it('shows an error as one line with a hint, or as JSON', async () => {
    const parts = {
      backup: async () => {
        throw new CausewayError('DATA_UNWRITABLE', 'the disk is full', { path: 'data', hint: 'make room' });
      },
    };
    expect(await cli(['backup'], { parts })).toEqual({
      code: 4,
      out: '',
      err: 'DATA_UNWRITABLE: data: the disk is full\n  make room\n',
    });
    const { err } = await cli(['backup', '--json'], { parts });
    expect(JSON.parse(err).error).toMatchObject({ code: 'DATA_UNWRITABLE', hint: 'make room', status: 500 });
  });
});

describe('serve and demo', () => {
  it('run the gateway until they are interrupted', async () => {
    const asked: ServeOptions[] = [];
    const serve = (options: ServeOptions) =>
      new Promise<void>(resolve => {
        asked.push(options);
        options.signal.addEventListener('abort', () => resolve());
      });
    for (const argv of [['serve', '--config', 'house/config.yaml'], ['demo'], ['demo', '--hubitat']]) {
      const { done, interrupt } = startCli(argv, { parts: { serve } });
      interrupt();
      expect(await done).toBe(0);
    }
    expect(asked).toMatchObject([
      { config: 'house/config.yaml', log: 'stdout' },
      { demo: true, log: 'stdout' },
      { demo: true, simulated: ['hubitat'], log: 'stdout' },
    ]);
  });
});

describe('check', () => {
  it('ends with 1 when something is wrong, each problem on a line', async () => {
    const problem = {
      severity: 'error',
      source: 'config.yaml',
      line: 3,
      column: 5,
      path: 'http/prot',
      message: 'unknown key "prot"',
      hint: 'did you mean "port"?',
    } as const;
    const check = async () => ({ ok: false, files: ['config.yaml'], problems: [problem] });
    expect(await cli(['check'], { parts: { check } })).toEqual({
      code: 1,
      out: 'error: config.yaml:3:5 http/prot: unknown key "prot"; did you mean "port"?\n1 file checked, not all right\n',
      err: '',
    });
    const fine = async () => ({ ok: true, files: ['a.yaml'], problems: [] });
    expect((await cli(['check', 'a.yaml'], { parts: { check: fine } })).code).toBe(0);
  });
});

describe('simulate', () => {
  it('ends with 1 when a scenario fails, and says how', async () => {
    const simulate = async (files: readonly string[]) => ({
      ok: false,
      scenarios: [
        { file: files[0] as string, name: 'cools down', ok: true, failures: [] },
        {
          file: files[0] as string,
          name: 'stays off',
          ok: false,
          failures: ['at 5m: expected no command, got virtual:fan on'],
        },
      ],
    });
    const { code, out } = await cli(['simulate', 'attic.yaml'], { parts: { simulate } });
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      'ok    attic.yaml: cools down',
      'FAIL  attic.yaml: stays off',
      '        at 5m: expected no command, got virtual:fan on',
      '2 scenarios, 1 failed',
      '',
    ]);
    expect(JSON.parse((await cli(['simulate', 'attic.yaml', '--json'], { parts: { simulate } })).out)).toMatchObject({
      ok: false,
    });
  });
});

describe('backup and restore', () => {
  it('name the folder', async () => {
    const backup = async (options: { to?: string }) => ({
      file: `${options.to ?? 'data/backups'}/x`,
      bytes: 1_500_000,
    });
    expect((await cli(['backup', 'mine'], { parts: { backup } })).out).toBe('mine/x written, 1.5 MB\n');
    const restore = async ({ from, force }: { from: string; force: boolean }) => ({ restored: [`${from} ${force}`] });
    expect((await cli(['restore', 'mine', '--yes'], { parts: { restore } })).out).toBe('mine true\n');
  });
});
