// `causeway check` as a process: what it has read, and what it says of it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { gatewayKit } from '../kit/gateway-process.ts';

const kit = gatewayKit();
afterAll(() => kit.end());

const check = (dir: string) =>
  new Promise<{ code: number; out: string }>(resolve =>
    execFile(
      process.execPath,
      ['--import', 'tsx', 'src/main.ts', 'check'],
      { env: { ...process.env, CAUSEWAY_HOME: dir } },
      (error, out) => resolve({ code: error ? Number(error.code) : 0, out }),
    ),
  );

describe('causeway check', () => {
  it('counts a config.yaml that has a fault among what it has read', async () => {
    const home = kit.home({});
    home.write('config.yaml', 'http: { prot: 1 }\n');
    const { code, out } = await check(home.dir);
    expect(code).toBe(1);
    expect(out).toContain(
      'config.yaml:1:9 http/prot: unknown key "prot"; did you mean "port"?\n1 file checked, not all right',
    );
  });

  it('says where there is nothing to check, and how to say where it is', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'causeway-check-'));
    const { code, out } = await check(empty);
    rmSync(empty, { recursive: true });
    expect(code).toBe(0);
    expect(out).toMatch(/^nothing to check: .*--config/);
  });
});
