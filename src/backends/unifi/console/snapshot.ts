// All that a console tells at a moment. Clients, devices and WANs are asked for each time; the rest changes seldom.
import type { Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/errors.ts';
import type { Json } from '../../../lib/json.ts';
import type { Counters } from '../counters.ts';
import type { Surface } from './answers.ts';
import type { ConsoleClient } from './client.ts';
import {
  type ClientRow,
  type DeviceRow,
  type HealthRow,
  readClients,
  readDevices,
  readHealth,
  readWans,
  readWlans,
  type WanRow,
  type WlanRow,
} from './wire.ts';

/** What was told. */
export interface Snapshot {
  /** Elapsed ms before it was asked for: what a message told after that is newer. */
  readonly askedAt: number;
  /** Connected now, or a moment ago. */
  readonly stations: readonly ClientRow[];
  readonly devices: readonly DeviceRow[];
  /** Undefined: not asked for, or the console has none. */
  readonly wans: readonly WanRow[] | undefined;
  readonly health: readonly HealthRow[] | undefined;
  /** All that were ever here. */
  readonly users: readonly ClientRow[] | undefined;
  readonly wlans: readonly WlanRow[] | undefined;
}

const LIST_TIMEOUT_MS = 20_000;

/** @param whole with what changes seldom. @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED */
export async function takeSnapshot(
  { client, counters, clock }: { client: ConsoleClient; counters: Counters; clock: Clock },
  whole: boolean,
): Promise<Snapshot> {
  const askedAt = clock.elapsed();
  const list = (path: string) => client.read('legacy', path, { timeoutMs: LIST_TIMEOUT_MS });
  // A console that takes seconds for each would not be read within the time of a start, one after the other.
  const begin = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
    if (!whole) return ask;
    const answer = ask();
    answer.catch(() => {});
    return () => answer;
  };
  const stations = begin(async () => readClients(await list('stat/sta'), counters));
  const devices = begin(async () => readDevices(await list('stat/device'), counters));
  const optional = async <T>(surface: Surface, path: string, read: (body: Json, counters: Counters) => T) => {
    const body = await readIfThere(client, surface, path);
    return body === undefined ? undefined : read(body, counters);
  };
  const wans = begin(() => optional('internal', 'wan/load-balancing/status', readWans));
  const health = begin(() => optional('legacy', 'stat/health', readHealth));
  const users = begin(async () => (whole ? readClients(await list('rest/user'), counters) : undefined));
  const wlans = begin(async () => (whole ? optional('legacy', 'rest/wlanconf', readWlans) : undefined));
  const snapshot: Snapshot = {
    askedAt,
    stations: await stations(),
    devices: await devices(),
    wans: await wans(),
    health: await health(),
    users: await users(),
    wlans: await wlans(),
  };
  counters.polls++;
  return snapshot;
}

/** What a read gives; undefined where the console has no such thing (no gateway, another version). */
async function readIfThere(client: ConsoleClient, surface: Surface, path: string): Promise<Json | undefined> {
  try {
    return await client.read(surface, path);
  } catch (error) {
    if (hasCode(error, 'BACKEND_REJECTED')) return undefined;
    throw error;
  }
}
