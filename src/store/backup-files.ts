// What a backup is on the disk: a folder with copies of everything and a manifest. Synchronous: it runs in a worker.
import { createHash } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import Sqlite from 'better-sqlite3';
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { asStoreError, isFull } from './database.ts';
import { syncFile } from './migrations.ts';

/** A file or folder that is backed up. SQLite files are known by their ending `.db`. */
export interface BackupSource {
  /** Its name in the backup: `causeway.db`, `journal`, `rules`, `config.yaml`. */
  readonly name: string;
  readonly path: string;
}

/** `backup.json`. */
export const manifestSchema = z.strictObject({
  format: z.literal(1),
  /** ISO 8601. */
  createdAt: z.string(),
  /** Of Causeway. */
  version: z.string(),
  files: z.array(z.strictObject({ path: z.string(), bytes: z.number().int(), sha256: z.string() })),
  /** What could not be copied out of a folder, and why. */
  skipped: z.array(z.strictObject({ path: z.string(), error: z.string() })),
});

/** What is in a backup. */
export type BackupManifest = z.infer<typeof manifestSchema>;

/** The manifest's file name. */
export const MANIFEST = 'backup.json';
/** SQLite files are known by their ending. */
export const isDatabase = (path: string): boolean => path.endsWith('.db');
/** True for a folder. */
export const isFolder = (path: string): boolean => statSync(path).isDirectory();

/** What `writeBackup` needs. */
export interface WriteOptions {
  /** The folder that gets the backup as a new folder. */
  readonly into: string;
  /** What is missing is left out. */
  readonly sources: readonly BackupSource[];
  /** Epoch ms. */
  readonly at: number;
  readonly version: string;
}

/** Copies everything while the gateway goes on; a half-written backup never has the name of one. */
export function writeBackup({ into, sources, at, version }: WriteOptions): { path: string; manifest: BackupManifest } {
  const path = join(into, `causeway-${stamp(at)}`);
  const part = `${path}.part`;
  try {
    if (existsSync(path))
      throw new CausewayError('EXISTS', `${path} exists already`, { hint: 'Try again in a second.' });
    rmSync(part, { recursive: true, force: true });
    // Principals and configuration have secrets in them.
    mkdirSync(part, { recursive: true, mode: 0o700 });
    const skipped: BackupManifest['skipped'] = [];
    for (const { name, path: from } of sources) {
      if (!existsSync(from)) continue;
      if (!isFolder(from)) copyFile(from, join(part, name));
      else copyFolder(from, join(part, name), (file, error) => skipped.push({ path: `${name}/${file}`, error }));
    }
    const files = filesBelow(part).map(file => ({ path: file, ...fingerprint(join(part, file)) }));
    const manifest: BackupManifest = { format: 1, createdAt: iso(at), version, files, skipped };
    writeFileSync(join(part, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    syncFile(join(part, MANIFEST));
    renameSync(part, path);
    return { path, manifest };
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw asStoreError(error, path);
  }
}

/** The instant in a file name. */
export const stamp = (at: number): string => iso(at).slice(0, 19).replaceAll(':', '-');

// VACUUM INTO copies within one read transaction. The online backup API would start over with each commit of another
// connection, and copying the file would drop the locks that this process holds on it.
function copyDatabase(from: string, to: string): void {
  const db = new Sqlite(from, { readonly: true });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
}

function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  if (isDatabase(from)) copyDatabase(from, to);
  else cpSync(from, to);
  syncFile(to);
}

function copyFolder(from: string, to: string, skip: (file: string, error: string) => void): void {
  mkdirSync(to, { recursive: true });
  for (const file of filesBelow(from)) {
    if (/-(wal|shm|journal)$|\.part$/.test(file)) continue;
    try {
      copyFile(join(from, file), join(to, file));
    } catch (error) {
      rmSync(join(to, file), { force: true });
      if (isFull(error)) throw error;
      skip(file, asStoreError(error, join(from, file)).message);
    }
  }
}

/** All files below a folder, relative to it with `/` between, in order. */
export function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(dir, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}

/** Size and digest of a file. */
export function fingerprint(path: string): { bytes: number; sha256: string } {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1_048_576);
  const fd = openSync(path, 'r');
  let bytes = 0;
  try {
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, read));
      bytes += read;
    }
  } finally {
    closeSync(fd);
  }
  return { bytes, sha256: hash.digest('hex') };
}
