// One gateway per data folder. The lock is the kernel's (SQLite takes it): it ends with the process however that dies, so
// there is no stale lock to judge, no recycled pid to mistake, and two containers on one volume see each other.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { asStoreError } from './database.ts';

const holderSchema = z.object({
  pid: z.number().int(),
  /** Epoch ms. */
  startedAt: z.number(),
  /** Where it listens: `http://127.0.0.1:8480`, `mqtt://127.0.0.1:1883`. */
  addresses: z.array(z.string()),
});

/** Who holds the folder. */
export type LockHolder = z.infer<typeof holderSchema>;

/** The held lock. */
export interface DataLock {
  /** Tells a second start where this one listens, once that is known. */
  tell(addresses: readonly string[]): void;
  /** Lets go; the end of the process does so too. */
  release(): void;
}

/**
 * Takes the folder, making it where it is missing.
 * @param info of this process; the pid is added
 * @throws CausewayError ALREADY_RUNNING (who, since when, where) or DATA_UNWRITABLE
 */
export function lockDataDir(dir: string, info: Omit<LockHolder, 'pid'>): DataLock {
  // Beside the lock, because closing any other descriptor of a locked file would drop the lock (POSIX).
  const file = join(dir, 'gateway.lock');
  const told = join(dir, 'gateway.json');
  let lock: Sqlite.Database | undefined;
  const tell = (addresses: readonly string[]) =>
    writeFileSync(told, `${JSON.stringify({ ...info, pid: process.pid, addresses } satisfies Writable, null, 2)}\n`);
  try {
    mkdirSync(dir, { recursive: true });
    lock = new Sqlite(file, { timeout: 0 });
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    tell(info.addresses);
  } catch (error) {
    lock?.close();
    if (isHeld(error)) throw alreadyRunning(dir, told);
    throw asStoreError(error, file);
  }
  const held = lock;
  const release = () => {
    process.off('exit', release);
    if (!held.open) return;
    rmSync(told, { force: true });
    held.close();
  };
  // This also keeps the lock from being collected as garbage when nobody holds the returned object.
  process.once('exit', release);
  return { tell, release };
}

/** Who holds, or held, the folder; undefined where nobody has written so. */
export function readHolder(dir: string): LockHolder | undefined {
  return holderIn(join(dir, 'gateway.json'));
}

type Writable = Omit<LockHolder, 'addresses'> & { addresses: readonly string[] };

const isHeld = (thrown: unknown): boolean =>
  thrown instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(thrown.code);

function holderIn(file: string): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function alreadyRunning(dir: string, told: string): CausewayError {
  const holder = holderIn(told);
  const who = holder ? `process ${holder.pid}, since ${iso(holder.startedAt)}` : 'another process';
  const where = holder?.addresses.length ? ` and listens on ${holder.addresses.join(', ')}` : '';
  return new CausewayError('ALREADY_RUNNING', `a gateway already uses ${dir}: it is ${who}${where}`, {
    hint: 'Use that one, stop it first, or give this one another folder (data.dir in config.yaml, or CAUSEWAY_DATA__DIR).',
    ...(holder && { details: holder }),
  });
}
