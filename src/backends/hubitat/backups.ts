// The backups that a hub keeps of its own database.
import { z } from 'zod';
import { type Clock, sleep } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { SystemBackup } from '../../model/command.ts';
import type { Counters } from './counters.ts';
import type { Pages } from './pages.ts';
import { hubTime } from './times.ts';

/** What they need. */
export interface BackupParts {
  readonly pages: Pages;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly signal: AbortSignal;
}

/** A row of `/hub2/localBackups`; `fileSize` on newer firmware. */
const Row = z.object({
  name: z.string().min(1),
  createTimeOrig: z.string().optional(),
  createTime: z.string().optional(),
  fileSize: z.coerce.number().optional(),
  size: z.coerce.number().optional(),
});

/** A large database takes minutes. */
const MAKING_MS = 300_000;
/** After the answer the list may lag behind. */
const LOOKS = 10;
const LOOK_EVERY_MS = 2_000;

/** Newest first. Rows without a time that can be read are left out, and counted. @throws as `Pages.json` */
export async function listBackups({ pages, counters, signal }: BackupParts): Promise<SystemBackup[]> {
  const answer = await pages.json('/hub2/localBackups', { signal });
  const rows = Array.isArray(answer) ? answer : [];
  if (rows !== answer) counters.unreadable++;
  return rows
    .flatMap((row): SystemBackup[] => {
      const { data } = Row.safeParse(row);
      const at = hubTime(data?.createTimeOrig) ?? hubTime(data?.createTime);
      if (!data || at === undefined) {
        counters.unreadable++;
        return [];
      }
      const bytes = data.fileSize ?? data.size;
      return [{ name: data.name, at, ...(bytes !== undefined && { bytes }) }];
    })
    .sort((a, b) => b.at - a.at);
}

/**
 * Has the hub make one. The hub answers with the whole archive, which stays where it is: what counts is the new entry in
 * the hub's list.
 * @throws as `Pages.text`; BACKEND_TIMEOUT when no new entry appeared
 */
export async function makeBackup(parts: BackupParts): Promise<SystemBackup> {
  const { pages, clock, signal } = parts;
  const before = await listBackups(parts);
  const known = new Map(before.map(({ name, at }) => [name, at]));
  await pages.text('/hub/backupDB?fileName=latest', { signal, timeoutMs: MAKING_MS, isOnce: true, discards: true });
  for (let look = 1; ; look++) {
    const made = (await listBackups(parts)).find(({ name, at }) => known.get(name) !== at);
    if (made) return made;
    if (look === LOOKS) break;
    await sleep(clock, LOOK_EVERY_MS, signal).catch(error => {
      throw asCausewayError(error);
    });
  }
  throw new CausewayError('BACKEND_TIMEOUT', 'the hub answered, but its list of backups shows no new one', {
    hint: 'look at Settings → Backup and Restore of the hub; a large backup may still be under way',
  });
}
