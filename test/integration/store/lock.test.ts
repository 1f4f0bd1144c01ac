import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockDataDir, readHolder } from '../../../src/store/lock.ts';
import { tempDir } from './support.ts';

const HOLD = fileURLToPath(new URL('./hold-lock.ts', import.meta.url));
const ME = { startedAt: 2_000, addresses: [] };

async function holdElsewhere(dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), HOLD, dir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

describe('the lock of the data folder', () => {
  test('refuses a second gateway and says who runs, since when, and where it listens', async () => {
    const dir = join(tempDir(), 'data');
    const child = await holdElsewhere(dir);
    expect(() => lockDataDir(dir, ME)).toThrow(
      expect.objectContaining({
        code: 'ALREADY_RUNNING',
        message: `a gateway already uses ${dir}: it is process ${child.pid}, since 1970-01-01T00:00:01.000Z and listens on http://127.0.0.1:8480, mqtt://127.0.0.1:1883`,
        hint: expect.stringContaining('CAUSEWAY_DATA__DIR'),
      }),
    );
  });

  test('is free once its holder was killed, whatever it left behind', async () => {
    const dir = tempDir();
    const child = await holdElsewhere(dir);
    await killed(child);
    expect(readHolder(dir)?.pid).toBe(child.pid);
    const lock = lockDataDir(dir, ME);
    expect(readHolder(dir)).toEqual({ pid: process.pid, startedAt: 2_000, addresses: [] });
    lock.release();
  });

  test('does not take a living process for a gateway because an old note has its pid', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'gateway.json'), JSON.stringify({ pid: process.pid, startedAt: 1, addresses: [] }));
    lockDataDir(dir, ME).release();
  });

  test('is refused also within one process, and free after its release, which may come twice', () => {
    const dir = tempDir();
    const lock = lockDataDir(dir, ME);
    expect(() => lockDataDir(dir, ME)).toThrow(expect.objectContaining({ code: 'ALREADY_RUNNING' }));
    lock.release();
    lock.release();
    expect(existsSync(join(dir, 'gateway.json'))).toBe(false);
    lockDataDir(dir, ME).release();
  });

  test('says so even when the note of the holder is unreadable', () => {
    const dir = tempDir();
    const lock = lockDataDir(dir, ME);
    writeFileSync(join(dir, 'gateway.json'), '{');
    expect(() => lockDataDir(dir, ME)).toThrow(/it is another process$/);
    lock.release();
  });

  test('cannot be taken where no folder can be, and names the place', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    expect(() => lockDataDir(join(file, 'data'), ME)).toThrow(
      expect.objectContaining({ code: 'DATA_UNWRITABLE', hint: expect.stringContaining(join(file, 'data')) }),
    );
  });
});
