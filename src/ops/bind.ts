// Binds the operations to a running gateway, under policy.
import { ruled, type Switches } from '../policy/policy.ts';
import type { Gateway } from './gateway.ts';
import { ops } from './index.ts';
import type { BoundOp } from './op.ts';

/** All operations that this gateway can do, ready to be called by the views. */
export function bindOps(gateway: Gateway, switches: Switches, onAuditFailed: (error: unknown) => void): BoundOp[] {
  const parts = {
    switches,
    now: () => gateway.clock.now(),
    audit: (record: Parameters<Gateway['store']['addAudit']>[0][number]) =>
      void gateway.store.addAudit([record]).catch(onAuditFailed),
  };
  const types = new Set([...gateway.systems.values()].map(({ kind }) => kind));
  return ops
    .filter(({ backend }) => backend === undefined || types.has(backend))
    .map(({ run, ...op }) => ({
      ...op,
      call: (input, context) => ruled(op, input, context, parts, value => run(gateway, value, context)),
    }));
}
