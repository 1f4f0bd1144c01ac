// The last known values: one reading per device and attribute, and what a report makes of it.
import type { AttributeDecl } from '../model/capability.ts';
import type { Cause } from '../model/cause.ts';
import { coerce, type Json, type Quality, valuesEqual } from '../model/value.ts';

/** A last known value. Instants are engine time (see `engine/timeline.ts`), so that clock steps do not shift them. */
export interface Reading {
  value: Json;
  quality: Quality;
  /** When it last became a value other than the last good one. */
  lastChanged: number;
  lastReported: number;
  /** Epoch ms as the source told. */
  sourceTime?: number;
  sourceSeq?: number;
  /** Engine's seq of the last event. */
  seq: number;
  cause: Cause | null;
  /** The backend's count of readiness at the last report; 0 for one restored from the store. */
  epoch: number;
}

/** What `apply` made of a report. */
export type Applied =
  | { what: 'changed' | 'reported' | 'resync'; reading: Reading; previous: Json }
  | { what: 'duplicate' | 'late' }
  | { what: 'rejected'; reason: string };

/** A report about one attribute, as `apply` takes it. */
export interface ValueReport {
  value: unknown;
  quality?: Quality | undefined;
  sourceTime?: number | undefined;
  seq?: number | undefined;
  id?: string | undefined;
}

const RECENT_IDS = 1024;

/** All readings, by device and attribute. */
export class Values {
  private readonly devices = new Map<string, Map<string, Reading>>();
  private readonly recentIds = new Set<string>();

  get(device: string, attribute: string): Reading | undefined {
    return this.devices.get(device)?.get(attribute);
  }

  of(device: string): ReadonlyMap<string, Reading> | undefined {
    return this.devices.get(device);
  }

  /** Puts a reading as it is: restoring from the store, and scenarios' `given`. */
  set(device: string, attribute: string, reading: Reading): void {
    let attributes = this.devices.get(device);
    if (!attributes) this.devices.set(device, (attributes = new Map()));
    attributes.set(attribute, reading);
  }

  forget(device: string): void {
    this.devices.delete(device);
  }

  /** True the first time a source's event id is seen; ids of the last thousand or so events are remembered. */
  isNew(device: string, id: string | undefined): boolean {
    if (id === undefined) return true;
    const key = `${device}\n${id}`;
    if (this.recentIds.has(key)) return false;
    this.recentIds.add(key);
    if (this.recentIds.size > RECENT_IDS) this.recentIds.delete(this.recentIds.values().next().value as string);
    return true;
  }

  /**
   * Fits a report to the declaration and stores it.
   * @param now engine time of the report
   * @param resync the backend has not said yet that its snapshot is complete
   */
  apply(
    device: string,
    attribute: string,
    report: ValueReport,
    declared: AttributeDecl | undefined,
    at: { now: number; seq: number; resync: boolean; epoch: number; cause: Cause },
  ): Applied {
    const old = this.get(device, attribute);
    if (!this.isNew(device, report.id)) return { what: 'duplicate' };
    const coerced = coerce(report.value, declared ?? { type: 'json' });
    if (!coerced.ok) return { what: 'rejected', reason: coerced.reason };
    const { value } = coerced;
    const step = declared?.step;
    if (old && !at.resync) {
      const older =
        (report.seq !== undefined && old.sourceSeq !== undefined && report.seq < old.sourceSeq) ||
        (report.sourceTime !== undefined && old.sourceTime !== undefined && report.sourceTime < old.sourceTime);
      if (older) return { what: 'late' };
      const same = report.sourceTime !== undefined && report.sourceTime === old.sourceTime;
      if (same && valuesEqual(value, old.value, step) && (report.quality ?? 'good') === old.quality) {
        return { what: 'duplicate' };
      }
    }
    const quality = report.quality ?? (value === null ? 'unknown' : 'good');
    const previous = old?.value ?? null;
    // The last good value stands behind a bad one: on → unavailable → on is no change.
    const differs = quality === 'good' && !valuesEqual(value, previous, step);
    const reading: Reading = {
      // What differs by less than the step is the same: compared is with what it last became.
      value: differs ? value : previous,
      quality,
      lastChanged: differs || !old ? at.now : old.lastChanged,
      lastReported: at.now,
      ...((report.sourceTime ?? old?.sourceTime) !== undefined && { sourceTime: report.sourceTime ?? old?.sourceTime }),
      ...((report.seq ?? old?.sourceSeq) !== undefined && { sourceSeq: report.seq ?? old?.sourceSeq }),
      seq: at.seq,
      cause: differs || !old?.cause ? at.cause : old.cause,
      epoch: at.epoch,
    };
    this.set(device, attribute, reading);
    return { what: at.resync ? 'resync' : differs ? 'changed' : 'reported', reading, previous };
  }
}
