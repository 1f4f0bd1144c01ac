// What the sink was told: devices and their values, each once as long as it does not change. During a snapshot it is only kept,
// and told as a whole.
import { yieldToIo } from '../../../lib/clock.ts';
import { jsonEqual } from '../../../lib/json.ts';
import type { BackendSink } from '../../../model/command.ts';
import type { Device } from '../../../model/device.ts';
import { coerce, type Json, valuesEqual } from '../../../model/value.ts';
import type { Counters } from '../counters.ts';

/** Values by attribute; undefined: nothing is known, null: there is none (any more). */
export type Values = Readonly<Record<string, Json | undefined>>;

/** Where an event comes from. */
export interface Origin {
  /** Epoch ms. */
  readonly sourceTime?: number | undefined;
  readonly id?: string | undefined;
}

/** What is told, in one connection. */
export interface Told {
  /** Past the snapshot: news are told. */
  isLive(): boolean;
  device(id: string): Device | undefined;
  value(id: string, attribute: string): Json | undefined;
  /** All values of a device. */
  values(id: string): Record<string, Json>;
  ids(): string[];
  /** Declares a device, where that says anything new. */
  declare(device: Device): void;
  remove(id: string): void;
  /** Tells those values of a declared device that differ. */
  set(id: string, values: Values): void;
  /** A momentary event; during a snapshot it is none. */
  happen(id: string, name: string, value: Json, origin?: Origin): void;
  /**
   * All devices and values, between `online` and `ready`; from then on news are told as they come.
   * @param isAll false: there may be more devices than these; see `tellDevices`
   */
  tellAll(isAll?: boolean): Promise<void>;
  /** That there are these devices and no others. */
  tellDevices(): void;
}

interface Entry {
  device: Device;
  /** The last ones, with the elapsed ms at which they were told. */
  readonly values: Map<string, { readonly value: Json; readonly at: number }>;
}

/** Counters and signals come with every poll; more often than this nobody needs them. */
const TELEMETRY_MS = 55_000;
/** Devices that are told between two looks at what else there is to do. */
const PIECE = 20;

/** @param elapsed ms, of the clock */
export function createTold(sink: BackendSink, counters: Counters, elapsed: () => number): Told {
  const entries = new Map<string, Entry>();
  let isLive = false;

  const report = (id: string, attribute: string, value: Json): void =>
    sink.report({ type: 'value', device: id, attribute, value, ...(value === null && { quality: 'unknown' }) });

  const fitting = ({ device }: Entry, attribute: string, value: Json): Json => {
    const declared = device.attributes[attribute];
    const coerced = declared ? coerce(value, declared) : { ok: false as const };
    if (coerced.ok) return coerced.value;
    counters.misfits++;
    return null;
  };

  const tellDevices = () => sink.devices([...entries.values()].map(({ device }) => device));

  return {
    isLive: () => isLive,
    device: id => entries.get(id)?.device,
    value: (id, attribute) => entries.get(id)?.values.get(attribute)?.value,
    values: id =>
      Object.fromEntries([...(entries.get(id)?.values ?? [])].map(([attribute, { value }]) => [attribute, value])),
    ids: () => [...entries.keys()],
    declare(device) {
      const entry = entries.get(device.id);
      if (entry && jsonEqual(entry.device, device)) return;
      if (entry) entry.device = device;
      else entries.set(device.id, { device, values: new Map() });
      if (isLive) sink.device(device);
    },
    remove(id) {
      if (entries.delete(id) && isLive) sink.removed(id);
    },
    set(id, values) {
      const entry = entries.get(id);
      if (!entry) return;
      const now = elapsed();
      for (const [attribute, raw] of Object.entries(values)) {
        if (raw === undefined || !entry.device.attributes[attribute]) continue;
        const declared = entry.device.attributes[attribute];
        const last = entry.values.get(attribute);
        // That there is none any more, or again, is no mere measure.
        const isMeasure = declared.telemetry && raw !== null && last !== undefined && last.value !== null;
        if (isMeasure && now - last.at < TELEMETRY_MS) continue;
        const value = fitting(entry, attribute, raw);
        // What never had a value is nothing to tell.
        if (last ? valuesEqual(last.value, value, declared.step) : value === null) continue;
        entry.values.set(attribute, { value, at: now });
        if (isLive) report(id, attribute, value);
      }
    },
    happen(id, name, value, { sourceTime, id: eventId } = {}) {
      if (!isLive || !entries.has(id)) return;
      sink.report({
        type: 'event',
        device: id,
        name,
        value,
        ...(sourceTime !== undefined && { sourceTime }),
        ...(eventId !== undefined && { id: eventId }),
      });
    },
    tellDevices,
    async tellAll(isAll = true) {
      sink.online();
      if (isAll) tellDevices();
      else for (const { device } of entries.values()) sink.device(device);
      let count = 0;
      for (const [id, { values }] of [...entries]) {
        for (const [attribute, { value }] of values) report(id, attribute, value);
        if (++count % PIECE === 0) await yieldToIo();
      }
      sink.ready();
      isLive = true;
    },
  };
}
