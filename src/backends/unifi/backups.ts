// The backups that a console keeps of its Network application.
import { z } from 'zod';
import { CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { SystemBackup } from '../../model/command.ts';
import type { Asking, ConsoleClient } from './console/client.ts';

const Row = z.object({
  filename: z.string().min(1),
  /** ms; some versions tell a date alone. */
  time: z.number().optional().catch(undefined),
  datetime: z.string().optional().catch(undefined),
  size: z.number().optional().catch(undefined),
});

/** The console answers once it is made: minutes, where statistics of years are in it. */
const MAKING_MS = 600_000;

/** All, newest first. @throws as `ConsoleClient.ask` */
export async function listBackups(client: ConsoleClient, signal: AbortSignal): Promise<SystemBackup[]> {
  const rows = await command(client, { cmd: 'list-backups' }, { again: true, signal });
  const backups = (Array.isArray(rows) ? rows : []).flatMap(row => {
    const { data } = Row.safeParse(row);
    const at = data?.time ?? Date.parse(data?.datetime ?? '');
    return data && Number.isFinite(at)
      ? [{ name: data.filename, at, ...(data.size !== undefined && { bytes: data.size }) }]
      : [];
  });
  return backups.sort((a, b) => b.at - a.at);
}

/** Has it make one of everything. @throws as `ConsoleClient.ask` */
export async function makeBackup(client: ConsoleClient, signal: AbortSignal): Promise<SystemBackup> {
  const before = new Set((await listBackups(client, signal)).map(({ name }) => name));
  await command(client, { cmd: 'backup', days: '-1' }, { again: false, signal, timeoutMs: MAKING_MS });
  const made = (await listBackups(client, signal)).find(({ name }) => !before.has(name));
  if (made) return made;
  throw new CausewayError('BACKEND_REJECTED', 'the console has made a backup and does not list it', {
    hint: 'look at the backups in its own pages: consoles with UniFi OS keep theirs there',
  });
}

const command = (client: ConsoleClient, body: object, asking: Asking): Promise<Json> =>
  client.lanes.run('backup', asking.signal, () => client.ask('POST', 'legacy', 'cmd/backup', body, asking));
