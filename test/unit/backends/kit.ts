// What tests of backends share: a sink that writes down, and commands.
import { rootCause } from '../../../src/model/cause.ts';
import type { BackendSink, Command } from '../../../src/model/command.ts';
import type { Device } from '../../../src/model/device.ts';
import type { Report } from '../../../src/model/event.ts';
import type { Json } from '../../../src/model/value.ts';

/** A sink that writes down what it is told, as short lines: `virtual:a/switch=on`, `ready`, `offline: why`. */
export interface Recorder extends BackendSink {
  readonly lines: string[];
  readonly reports: Report[];
  readonly declared: Map<string, Device>;
  /** The lines since the last call. */
  take(): string[];
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** One report as a line. */
function lineOf(report: Report): string {
  if (report.type === 'value') {
    const quality = report.quality === undefined ? '' : ` (${report.quality})`;
    return `${report.device}/${report.attribute}=${shown(report.value)}${quality}`;
  }
  if (report.type === 'event') return `${report.device}!${report.name}=${shown(report.value)}`;
  if (report.type === 'availability') return `${report.device} ${report.state}`;
  return report.type;
}

export function recorder(onReport: (report: Report) => void = () => {}): Recorder {
  const lines: string[] = [];
  const reports: Report[] = [];
  const declared = new Map<string, Device>();
  return {
    lines,
    reports,
    declared,
    take: () => lines.splice(0),
    devices(devices) {
      declared.clear();
      for (const device of devices) declared.set(device.id, device);
      lines.push(`devices: ${devices.map(device => device.id).join(' ')}`);
    },
    device(device) {
      declared.set(device.id, device);
      lines.push(`device: ${device.id} "${device.name}"`);
    },
    removed(id) {
      declared.delete(id);
      lines.push(`removed: ${id}`);
    },
    report(report) {
      reports.push(report);
      lines.push(lineOf(report));
      onReport(report);
    },
    offline: reason => lines.push(`offline: ${reason}`),
    online: () => lines.push('online'),
    ready: () => lines.push('ready'),
  };
}

let count = 0;

export function commandTo(device: string, command: string, args: Record<string, Json> = {}): Command {
  const id = `command-${++count}`;
  return { id, device, command, args, cause: rootCause(id, { kind: 'user' }, 'user') };
}

/** A signal that nobody aborts. */
export const patience = (): AbortSignal => new AbortController().signal;

/** Lets promises that are settled already be heard. */
export const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};
