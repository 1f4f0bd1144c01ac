// Lines of a system's own log as events of kind `system`: bounded, and on a key that no rule listens to.
import { rootCause } from '../model/cause.ts';
import type { Report } from '../model/event.ts';
import type { Core } from './core.ts';
import { keys } from './signals.ts';

/** The attribute of their events. */
export const LOG = '$log';

type LogReport = Extract<Report, { type: 'log' }>;

/** Lines of one system that are taken within a second; a driver in debug mode writes hundreds. */
const A_SECOND = 50;
const LONGEST = 2_000;

/** Tells a line: of a device, or of the system itself, which stands there with its backend's id. */
export function applyLog(core: Core, backend: string, { device, level, message }: LogReport): void {
  const text = message.length > LONGEST ? `${message.slice(0, LONGEST)} …` : message;
  core.raise(keys.log, {
    kind: 'system',
    backend,
    device: device ?? backend,
    attribute: LOG,
    value: { level, message: text },
    previous: null,
    quality: 'good',
    change: 'reported',
    cause: rootCause('', { kind: 'device', ref: device ?? backend }, 'device'),
  });
}

/**
 * Lets so many lines a second through; what is left out is counted, and told with the next line that comes after that second.
 * @param onLeftOut called for each line that is left out
 */
export function logBound(now: () => number, onLeftOut: () => void): (report: LogReport) => LogReport[] {
  let since = Number.NEGATIVE_INFINITY;
  let taken = 0;
  let leftOut = 0;
  return report => {
    const at = now();
    const told: LogReport[] = [];
    if (at - since >= 1_000) {
      if (leftOut > 0) told.push({ type: 'log', level: 'warn', message: `${leftOut} lines of the log were left out` });
      since = at;
      taken = 0;
      leftOut = 0;
    }
    if (taken < A_SECOND) {
      taken++;
      told.push(report);
    } else {
      leftOut++;
      onLeftOut();
    }
    return told;
  };
}
