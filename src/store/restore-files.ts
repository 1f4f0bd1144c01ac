// Restoring a backup: checks first, copies next, and moves only when nothing can fail for want of space. Synchronous.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CausewayError } from '../lib/errors.ts';
import {
  type BackupManifest,
  type BackupSource,
  filesBelow,
  fingerprint,
  isDatabase,
  isFolder,
  MANIFEST,
  manifestSchema,
  stamp,
} from './backup-files.ts';
import { asStoreError } from './database.ts';
import { refuseNewer, syncFile } from './migrations.ts';

/** Checks that a backup is whole and that this Causeway can read it. */
function checkBackup(from: string): BackupManifest {
  const wrong = (text: string, cause?: unknown) =>
    new CausewayError('INPUT_INVALID', `${from} cannot be restored: ${text}`, {
      hint: 'Name the folder of a backup (causeway-<date>), and take another one if this is damaged.',
      cause,
    });
  if (!existsSync(join(from, MANIFEST))) throw wrong(`it has no ${MANIFEST}`);
  const manifest = readManifest(join(from, MANIFEST), wrong);
  for (const file of manifest.files) {
    const path = resolve(from, file.path);
    if (!path.startsWith(resolve(from) + sep)) throw wrong(`${file.path} is outside of it`);
    if (!existsSync(path)) throw wrong(`${file.path} is missing`);
    if (fingerprint(path).sha256 !== file.sha256) throw wrong(`${file.path} is not what was backed up`);
  }
  const database = join(from, 'causeway.db');
  if (existsSync(database)) checkDatabase(database, wrong);
  return manifest;
}

/** What `restoreFiles` needs. */
export interface RestoreOptions {
  /** The folder of the backup. */
  readonly from: string;
  /** Where each name goes; names that the backup lacks are left alone. */
  readonly targets: readonly BackupSource[];
  /** Epoch ms. */
  readonly at: number;
}

/** What `restoreFiles` did: the names, and where the things that were there before lie now. */
export interface Restored {
  readonly names: string[];
  readonly kept: string[];
}

/** Puts a backup in place; what was there is kept beside it. Everything is copied before anything is moved. */
export function restoreFiles({ from, targets, at }: RestoreOptions): Restored {
  checkBackup(from);
  const wanted = targets.filter(({ name }) => existsSync(join(from, name)));
  const staged = (path: string) => `${path}.restoring`;
  const kept: string[] = [];
  try {
    for (const { name, path } of wanted) {
      mkdirSync(dirname(path), { recursive: true });
      rmSync(staged(path), { recursive: true, force: true });
      cpSync(join(from, name), staged(path), { recursive: true });
      const files = isFolder(staged(path))
        ? filesBelow(staged(path)).map(file => join(staged(path), file))
        : [staged(path)];
      for (const file of files) syncFile(file);
    }
    for (const { path } of wanted) {
      // A WAL that stayed behind would be played into the restored database.
      for (const old of isDatabase(path) ? [path, `${path}-wal`, `${path}-shm`] : [path]) {
        if (!existsSync(old)) continue;
        const aside = `${old}.before-restore-${stamp(at)}`;
        move(old, aside);
        kept.push(aside);
      }
      move(staged(path), path);
      rmSync(staged(path), { recursive: true, force: true });
    }
  } catch (error) {
    throw asStoreError(error, from);
  }
  return { names: wanted.map(({ name }) => name), kept };
}

type Wrong = (text: string, cause?: unknown) => CausewayError;

function readManifest(file: string, wrong: Wrong): BackupManifest {
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw wrong(`${MANIFEST} does not parse`, error);
  }
}

function checkDatabase(path: string, wrong: Wrong): void {
  const db = new Sqlite(path, { readonly: true });
  try {
    refuseNewer(db, path);
    const verdict = db.pragma('quick_check(1)', { simple: true });
    if (verdict !== 'ok') throw wrong(`causeway.db is damaged: ${verdict}`);
  } finally {
    db.close();
  }
}

// A mount point cannot be renamed, nor a file across two disks.
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!['EBUSY', 'EXDEV', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(code ?? '')) throw error;
    cpSync(from, to, { recursive: true });
    if (!isFolder(from)) return;
    for (const child of readdirSync(from)) rmSync(join(from, child), { recursive: true });
  }
}
