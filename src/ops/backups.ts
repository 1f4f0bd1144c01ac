// The backups that bridged systems keep of themselves (a hub's database). Those of Causeway: `causeway backup`.
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { formatDuration } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { Backend, SystemBackup } from '../model/command.ts';
import type { Json } from '../model/value.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

/** What an operation that cannot be undone wants at least. */
const YOUNG_MS = 24 * 3_600_000;
/** No time zone is further from UTC. One from further ahead was made while the system's clock was wrong. */
const AHEAD_MS = 14 * 3_600_000;

type Parts = Pick<Gateway, 'backends' | 'clock'>;

const named = z.string().min(1).meta({ description: 'Id of the backend, as config.yaml names it' });
const Backup = z.looseObject({ name: z.string(), at: z.string(), age: z.string() });

/** @throws NOT_FOUND */
function backendOf({ backends }: Parts, id: string): Backend {
  const backend = backends.get(id);
  if (backend) return backend;
  throw new CausewayError('NOT_FOUND', `there is no backend "${id}"`, {
    path: 'backend',
    hint: didYouMean(id, backends.keys()),
  });
}

const unsupported = ({ id, kind }: Backend, what: string): CausewayError =>
  new CausewayError('UNSUPPORTED', `the backend "${id}" (${kind}) cannot ${what}`, {
    path: 'backend',
    hint: 'Causeway itself is backed up with `causeway backup`; this system with its own means',
  });

// The system's clock may be a little ahead of ours.
const ageOf = ({ at }: SystemBackup, { clock }: Parts): number => Math.max(0, clock.now() - at);

const shown = (backup: SystemBackup, parts: Parts): z.infer<typeof Backup> => ({
  name: backup.name,
  at: iso(backup.at),
  age: formatDuration(Math.floor(ageOf(backup, parts) / 1_000) * 1_000),
  ...(backup.bytes !== undefined && { bytes: backup.bytes }),
});

/**
 * Passes when the newest backup that a system keeps of itself is younger than a day.
 * @throws BACKUP_REQUIRED, UNSUPPORTED, and as `Backend.backups`
 */
export async function requireBackup(parts: Parts, id: string, signal: AbortSignal): Promise<void> {
  const backend = backendOf(parts, id);
  if (!backend.backups) throw unsupported(backend, 'tell its backups');
  const backups = await backend.backups(signal);
  const newest = backups.find(({ at }) => at - parts.clock.now() < AHEAD_MS);
  if (newest && ageOf(newest, parts) < YOUNG_MS) return;
  const none = backups.length > 0 ? `the backups of "${id}" are dated in the future` : `"${id}" has no backup`;
  const found = newest ? `the newest backup of "${id}" is ${shown(newest, parts).age} old` : none;
  throw new CausewayError('BACKUP_REQUIRED', `${found}; this cannot be undone`, {
    hint: `call create_backup with backend: "${id}" first, then this again`,
  });
}

const listBackups = defineOp({
  name: 'list_backups',
  title: 'Backups of a bridged system',
  description:
    'The backups that a bridged system (a hub) keeps of its own database, newest first, with their age. Not those of Causeway.',
  input: z.strictObject({ backend: named }),
  output: z.looseObject({ backend: z.string(), backups: z.array(Backup) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/backends/:backend/backups'],
  listed: false,
  async run(gateway: Gateway, { backend: id }, { signal }) {
    const backend = backendOf(gateway, id);
    if (!backend.backups) throw unsupported(backend, 'tell its backups');
    const backups = await backend.backups(signal);
    return { backend: id, backups: backups.map(one => shown(one, gateway)) };
  },
});

const createBackup = defineOp({
  name: 'create_backup',
  title: 'Back a bridged system up',
  description:
    'Has a bridged system (a hub) make a backup of its own database, which it keeps; answers once it is there, which may take minutes. What operations that cannot be undone ask for.',
  input: z.strictObject({ backend: named }),
  output: z.looseObject({ backend: z.string() }),
  effect: 'write',
  scope: 'admin',
  route: ['POST', '/backends/:backend/backups'],
  listed: false,
  async run(
    gateway: Gateway,
    { backend: id },
    { dryRun, signal },
  ): Promise<Record<string, Json> & { backend: string }> {
    const backend = backendOf(gateway, id);
    if (!backend.backup) throw unsupported(backend, 'make a backup');
    if (dryRun) return { backend: id, dry_run: true };
    return { backend: id, ...(shown(await backend.backup(signal), gateway) as Record<string, Json>) };
  },
});

/** Operations on the backups of bridged systems. */
export const backupOps = [listBackups, createBackup] as const;
