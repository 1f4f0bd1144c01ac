// How a rule stands, as lists show it.
import type { Core, LiveRule } from './core.ts';

/** The status of a live rule and why; of several the last in the order ok, dormant, degraded, throttled, suspended. */
export function statusOf(core: Core, live: LiveRule): { status: string; reason?: string } {
  const { suspended } = live.runtime;
  if (suspended) return { status: 'suspended', reason: suspended.message };
  if (core.timeline.now() < live.window.throttledUntil)
    return { status: 'throttled', reason: 'it runs more often than its limits allow' };
  return { status: 'ok' };
}
