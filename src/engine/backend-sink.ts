// What a backend tells, as inputs of the engine.
import type { BackendSink } from '../model/command.ts';
import { backendOf } from '../model/device.ts';
import type { Report } from '../model/event.ts';
import type { Core } from './core.ts';
import { standsForOlder, type ValueReport } from './flood.ts';
import { applyReport, type InputParts, putDevice, removeDevice, setBackend, statusOf } from './inputs.ts';
import { logBound } from './system-logs.ts';

/** The sink that a backend is started with: each call becomes an input of the engine. */
export function sinkFor(
  core: Core,
  parts: InputParts,
  backend: string,
  push: (key: string | undefined, run: () => void, news: boolean) => void,
  onReady: () => void,
): BackendSink {
  const newest = new Map<string, ValueReport>();
  const bounded = logBound(
    () => core.timeline.now(),
    () => void parts.counters.logsLeftOut++,
  );
  const take = (key: string | undefined, report: Report) =>
    push(key, () => applyReport(core, parts, backend, report), true);
  return {
    devices(devices) {
      push(
        undefined,
        () => {
          const ids = new Set(devices.map(device => device.id));
          for (const device of devices) putDevice(core, device);
          for (const known of core.devices.all())
            if (backendOf(known.id) === backend && !ids.has(known.id)) removeDevice(core, known.id);
        },
        false,
      );
    },
    device: device => push(undefined, () => putDevice(core, device), false),
    removed: id => push(undefined, () => removeDevice(core, id), false),
    report: report => {
      if (report.type === 'log') {
        for (const line of bounded(report)) take(undefined, line);
        return;
      }
      const key = report.type === 'value' ? `${report.device}\n${report.attribute}` : undefined;
      const stands = key !== undefined && standsForOlder(core, report as ValueReport, newest.get(key));
      if (!stands) return take(undefined, report);
      newest.set(key, report as ValueReport);
      const apply = () => {
        // Nothing older waits any more.
        if (newest.get(key) === report) newest.delete(key);
        applyReport(core, parts, backend, report);
      };
      push(key, apply, true);
    },
    offline: reason =>
      push(undefined, () => setBackend(core, backend, { state: 'offline', ready: false, reason }), false),
    online() {
      newest.clear();
      push(
        undefined,
        () => {
          // After an outage a hold must not be judged by what a device was before it.
          const state = core.devices.isAway(backend) ? 'degraded' : 'online';
          setBackend(core, backend, { state, ready: false });
        },
        false,
      );
    },
    ready() {
      push(
        undefined,
        () => {
          setBackend(core, backend, { state: 'online', ready: true, epoch: statusOf(core, backend).epoch + 1 });
          onReady();
        },
        false,
      );
    },
  };
}
