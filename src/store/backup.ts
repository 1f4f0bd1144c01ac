// Backup and restore of all that a house is: database, broker, journal, rules, configuration.
import { startWorker } from '../lib/worker.ts';
import type { BackupManifest, WriteOptions } from './backup-files.ts';
import type { BackupAnswers } from './backup-worker.ts';
import { lockDataDir } from './lock.ts';
import type { Restored, RestoreOptions } from './restore-files.ts';

export type { BackupManifest, BackupSource } from './backup-files.ts';

const start = () =>
  startWorker<BackupAnswers>(new URL('./backup-worker.ts', import.meta.url), { name: 'the backup’s worker' });

/**
 * Writes a backup as a new folder `causeway-<date>` below `into`; the gateway may run meanwhile.
 * @throws CausewayError DATA_UNWRITABLE; nothing is left of the attempt
 */
export async function createBackup(options: WriteOptions): Promise<{ path: string; manifest: BackupManifest }> {
  const worker = start();
  try {
    return await worker.ask('write', options);
  } finally {
    await worker.stop();
  }
}

/**
 * Restores a backup; what was there is kept beside it, as `….before-restore-<date>`.
 * @param options `dataDir`: the data folder, which no gateway may use meanwhile
 * @throws CausewayError ALREADY_RUNNING, INPUT_INVALID (no whole backup), DATABASE_NEWER, DATA_UNWRITABLE
 */
export async function restoreBackup(options: RestoreOptions & { dataDir: string }): Promise<Restored> {
  const { dataDir, ...rest } = options;
  const lock = lockDataDir(dataDir, { startedAt: options.at, addresses: [] });
  const worker = start();
  try {
    return await worker.ask('restore', rest);
  } finally {
    await worker.stop();
    lock.release();
  }
}
