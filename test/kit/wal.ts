// A write-ahead log of SQLite from outside: where its commits end, and a database as it was after one of them, which is
// what a power cut at that moment leaves. https://www.sqlite.org/fileformat2.html#the_write_ahead_log
import { copyFileSync, mkdtempSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HEADER = 32;
const FRAME_HEADER = 24;

/** The sizes that the log of a database had after each commit since it began. */
export function commitsOf(database: string): number[] {
  const wal = readFileSync(`${database}-wal`);
  const page = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  const ends: number[] = [];
  for (let at = HEADER; at + FRAME_HEADER + page <= wal.length; at += FRAME_HEADER + page) {
    // Frames of an earlier round lie behind the present ones.
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) > 0) ends.push(at + FRAME_HEADER + page);
  }
  return ends;
}

/** Cuts the log of a database that nobody has open. */
export const cutWal = (database: string, size: number): void => truncateSync(`${database}-wal`, size);

/** A copy of a database in a folder of its own, with its log cut; its path. */
export function copyCut(database: string, size: number): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'causeway-cut-')), 'copy.db');
  copyFileSync(database, copy);
  copyFileSync(`${database}-wal`, `${copy}-wal`);
  cutWal(copy, size);
  return copy;
}
