// What may be left out when reports come faster than they are taken.
import type { Report } from '../model/event.ts';
import { coerce } from '../model/value.ts';
import type { Core } from './core.ts';

/** A value that a backend reports. */
export type ValueReport = Extract<Report, { type: 'value' }>;

/** Whether in a flood a report makes the older ones of its attribute needless: it will be the last value, and no press. */
export function standsForOlder(core: Core, report: ValueReport, older: ValueReport | undefined): boolean {
  if (report.id !== undefined || (report.quality ?? 'good') !== 'good') return false;
  const declared = core.devices.get(report.device)?.attributes[report.attribute];
  if (declared?.momentary || !coerce(report.value, declared ?? { type: 'json' }).ok) return false;
  const isOlder = (mine: number | undefined, its: number | undefined) =>
    mine !== undefined && its !== undefined && mine < its;
  return !isOlder(report.seq, older?.seq) && !isOlder(report.sourceTime, older?.sourceTime);
}
