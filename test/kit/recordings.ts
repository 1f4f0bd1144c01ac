// Recorded answers of real systems. They are no part of the project: they lie beside it, in ../shared/fixtures, or where
// CAUSEWAY_FIXTURES says. Tests that need them are skipped, and say so, where they are not.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = process.env.CAUSEWAY_FIXTURES ?? resolve(import.meta.dirname, '../../../shared/fixtures');

/** The recordings of one system. */
export interface Recordings {
  readonly isThere: boolean;
  /** One of them, by its file name without `.json`. */
  read(name: string): unknown;
}

/** @param system a folder of the recordings */
export function recordingsOf(system: string): Recordings {
  const folder = join(ROOT, system);
  const isThere = existsSync(folder);
  if (!isThere) console.warn(`no recordings of ${system} in ${folder}: their tests are skipped`);
  return { isThere, read: name => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) };
}
