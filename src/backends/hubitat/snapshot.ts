// All that the hub is at a moment: its devices, mapped, and its own state.
import { yieldToIo } from '../../lib/clock.ts';
import { asCausewayError, hasCode } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { TEMPERATURES } from './capabilities.ts';
import type { HubClient } from './client.ts';
import type { Counters } from './counters.ts';
import { type HubState, readState } from './location.ts';
import { type Mapped, mapDevice, newPool, type Pool } from './map.ts';
import type { HubitatConfig } from './schema.ts';
import { type Scale, scaleOf } from './values.ts';
import { deviceRows, type NativeDevice, readDevices, readSignatures, unitInHistory } from './wire.ts';

/** A device with its values as the hub wrote them. */
export interface Found {
  readonly mapped: Mapped;
  readonly raw: NativeDevice;
}

/** What the hub is. */
export interface Snapshot {
  readonly devices: readonly Found[];
  readonly state: HubState;
  readonly scale: Scale;
}

/** What was learned of a hub and holds over its restarts. */
export interface Learned {
  /** The types of commands' arguments, by driver. */
  readonly signatures: Map<string, ReadonlyMap<string, readonly string[]>>;
  readonly pool: Pool;
  /** By a unit that the hub told. */
  scale: Scale | undefined;
  /** What was said or asked once. */
  readonly done: Set<'way' | 'scale'>;
}

/** Nothing yet. */
export const nothingLearned = (): Learned => ({
  signatures: new Map(),
  pool: newPool(),
  scale: undefined,
  done: new Set(),
});

/** What taking a snapshot needs. */
export interface SnapshotParts {
  readonly backend: string;
  readonly config: HubitatConfig;
  readonly client: HubClient;
  readonly counters: Counters;
  readonly log: Log;
  readonly learned: Learned;
}

/** A hub with hundreds of devices takes its time over all of them. */
const LIST_TIMEOUT_MS = 20_000;
const LIST_TRIES = 2;
/** Devices whose history is looked at for the unit of their temperatures. */
const HISTORIES = 5;

/** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED */
export async function takeSnapshot(parts: SnapshotParts): Promise<Snapshot> {
  const { backend, client, counters, learned } = parts;
  // First and alone: a wrong token is told once.
  const devices = await readAll(await listDevices(client), counters);
  const [state] = await Promise.all([readState(client, counters), learnSignatures(parts, devices)]);
  const scale = await learnScale(parts, devices);
  const mapping = {
    backend,
    scale,
    counters,
    pool: learned.pool,
    signatures: (device: NativeDevice) => learned.signatures.get(driverKey(device)),
  };
  const found = await inPieces(devices, raw => ({ raw, mapped: mapDevice(raw, mapping) }));
  counters.snapshots++;
  return { scale, state, devices: found };
}

/** Devices that are worked on between two looks at what else there is to do. */
const PIECE = 20;

/** The results of a task for each item, with the event loop free in between. */
export async function inPieces<T, R>(items: readonly T[], task: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i++) {
    results.push(task(items[i] as T));
    if (i % PIECE === PIECE - 1) await yieldToIo();
  }
  return results;
}

/** All devices of a list, each once. */
async function readAll(list: unknown[], counters: Counters): Promise<NativeDevice[]> {
  const rows = await inPieces(list, row => readDevices([row], counters));
  return [...new Map(rows.flat().map(device => [device.id, device])).values()];
}

/** All selected devices with data types; without them where the hub lacks that form. */
async function listDevices(client: HubClient): Promise<unknown[]> {
  const patience = { timeoutMs: LIST_TIMEOUT_MS, tries: LIST_TRIES };
  try {
    return deviceRows(await client.read('/devices/*', patience));
  } catch (error) {
    if (!hasCode(error, 'BACKEND_REJECTED')) throw error;
    return deviceRows(await client.read('/devices/all', patience));
  }
}

/** Devices of one driver have the same commands. */
const driverKey = ({ driver, commands }: NativeDevice): string => [driver, ...commands].join('\n');

/** Asks once for each driver which arguments its commands take; one that does not tell takes any. */
async function learnSignatures(parts: SnapshotParts, devices: readonly NativeDevice[]): Promise<void> {
  const { client, counters, learned, log, backend } = parts;
  const asked = new Map<string, NativeDevice>();
  for (const device of devices) {
    const key = driverKey(device);
    if (device.commands.length > 0 && !learned.signatures.has(key)) asked.set(key, device);
  }
  await Promise.all(
    [...asked].map(async ([key, { id, driver }]) => {
      try {
        const answer = await client.read(`/devices/${encodeURIComponent(id)}/commands`, { tries: 2 });
        learned.signatures.set(key, readSignatures(answer, counters));
      } catch (error) {
        log.debug(
          { backend, driver, error: asCausewayError(error).message },
          'the arguments of a driver are not known',
        );
      }
    }),
  );
}

/**
 * The scale that the hub reports in. Its list of devices need not tell units, events do: so the history of a few devices
 * with temperatures is asked.
 */
async function learnScale(parts: SnapshotParts, devices: readonly NativeDevice[]): Promise<Scale> {
  const { config, client, counters, learned, log, backend } = parts;
  if (config.temperature_scale !== 'auto') return config.temperature_scale;
  if (learned.scale !== undefined) return learned.scale;
  const withTemperature = devices.filter(({ attributes }) =>
    attributes.some(({ name, value }) => TEMPERATURES.includes(name) && value !== null),
  );
  if (withTemperature.length === 0 || learned.done.has('scale')) return 'C';
  learned.done.add('scale');
  const units = withTemperature.flatMap(({ attributes }) => attributes.map(({ unit }) => scaleOf(unit)));
  learned.scale = units.find(unit => unit !== undefined);
  for (const { id } of withTemperature.slice(0, HISTORIES)) {
    if (learned.scale !== undefined) break;
    const history = await client.read(`/devices/${encodeURIComponent(id)}/events`, { tries: 1 }).catch(() => []);
    learned.scale = scaleOf(unitInHistory(history, TEMPERATURES, counters));
  }
  if (learned.scale === undefined) {
    log.warn(
      { backend },
      'the hub does not tell whether its temperatures are °C or °F: °C is taken; set temperature_scale of this backend',
    );
    return 'C';
  }
  log.info({ backend, scale: learned.scale }, 'the hub’s temperatures are read in this scale');
  return learned.scale;
}
