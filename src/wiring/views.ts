// What MCP and HTTP are given of the gateway.
import type { Observable } from 'rxjs';
import type { Bus } from '../bus/bus.ts';
import type { Counters } from '../bus/embedded.ts';
import type { Gateway } from '../ops/gateway.ts';
import type { BoundOp, Views } from '../ops/op.ts';
import { resourcesOf } from '../ops/resources.ts';
import { metricsOf } from './metrics.ts';

/** What the views are made of. */
export interface ViewParts {
  readonly gateway: Gateway;
  readonly ops: readonly BoundOp[];
  readonly bus: Bus;
  readonly updated$: Observable<string>;
  readonly listChanged$: Observable<void>;
  readonly brokerCounters: () => Counters | undefined;
}

/** Builds the views. */
export function viewsOf({ gateway, ops, bus, updated$, listChanged$, brokerCounters }: ViewParts): Views {
  const { engine } = gateway;
  const trouble = () => engine.turns.trouble;
  const types = new Set([...gateway.systems.values()].map(({ kind }) => kind));
  return {
    version: gateway.version,
    ops,
    resources: resourcesOf(gateway).filter(({ backend }) => backend === undefined || types.has(backend)),
    updated$,
    listChanged$,
    health: () => ({
      ready: engine.isReady && trouble() === undefined && bus.status().ok,
      parts: {
        engine: { ok: engine.isReady, ...(!engine.isReady && { note: 'waiting for the backends’ snapshots' }) },
        store: { ok: trouble() === undefined, ...(trouble() !== undefined && { note: trouble() }) },
        bus: bus.status(),
        ...Object.fromEntries(
          [...engine.core.devices.allBackends()].map(([id, { state, reason }]) => [
            `backend ${id}`,
            { ok: state === 'online', ...(reason !== undefined && { note: reason }) },
          ]),
        ),
      },
    }),
    metrics: () => metricsOf(gateway, brokerCounters()),
  };
}
