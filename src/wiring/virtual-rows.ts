// Keeps virtual devices in the store: each row at once, and again until it is stored (a disk may be full for a while).
import type { VirtualBackend, VirtualRows } from '../backends/virtual/index.ts';
import { slugOf, type VirtualSpec } from '../backends/virtual/spec.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Json } from '../model/value.ts';
import type { VirtualDevices } from '../ops/gateway.ts';
import type { Store } from '../store/store.ts';

/** Rows of virtual devices, with the moment at which all of them are stored. */
export interface StoredRows extends VirtualRows {
  /** Resolves once all that was saved is stored. */
  stored(): Promise<void>;
  /** Waits for what is being written, and tries nothing again. */
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;

/** Rows as they were loaded, and a writer. */
export function virtualRows(parts: {
  readonly loaded: ReadonlyMap<string, Json>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): StoredRows {
  const { store, clock, log } = parts;
  const stopping = new AbortController();
  const writing = new Set<Promise<void>>();
  const newest = new Map<string, object>();

  const write = async (key: string, value: Json | undefined, durability: 'full' | 'lazy') => {
    const change = { table: 'virtual' as const, key, value };
    newest.set(key, change);
    for (let attempt = 1; newest.get(key) === change; attempt++) {
      try {
        // Not gathered: what follows from the value is committed after it, and must not be found without it.
        await store.commit([change], durability);
        break;
      } catch (error) {
        if (attempt === 1) log.error({ device: key, error: String(error) }, 'a virtual device cannot be stored yet');
        if (stopping.signal.aborted) return;
        await sleep(clock, RETRY_MS, stopping.signal).catch(() => {});
      }
    }
    if (newest.get(key) === change) newest.delete(key);
  };
  const stored = async () => void (await Promise.all(writing));

  return {
    load: () => parts.loaded,
    save(id, row, durability) {
      const written = write(id, row, durability).finally(() => writing.delete(written));
      writing.add(written);
    },
    stored,
    stop() {
      stopping.abort();
      return stored();
    },
  };
}

/** Virtual devices as operations see them: what they change is stored when they answer. */
export function virtualDevices(virtual: VirtualBackend, rows: Pick<StoredRows, 'stored'>): VirtualDevices {
  return {
    async createDevice({ name, label = name, ...spec }) {
      const device = virtual.createDevice({ ...spec, id: slugOf(name), name: label } as VirtualSpec);
      await rows.stored();
      return device;
    },
    async renameDevice(id, name) {
      const device = virtual.renameDevice(id, name);
      await rows.stored();
      return device;
    },
    async deleteDevice(id) {
      virtual.deleteDevice(id);
      await rows.stored();
    },
    setValue: (id, attribute, value) => virtual.setValue(id, attribute, value),
  };
}
