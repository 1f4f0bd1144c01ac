// The table of what only a UniFi console can do. A new operation is one row in the file of its family.
import type { BackendOperation } from '../../operation.ts';
import { flowBlockRows } from './flow-blocks.ts';
import { flowTrendRows } from './flow-trends.ts';
import { flowRows } from './flows.ts';
import { inventoryRows } from './inventory.ts';
import { securityRows } from './security.ts';
import { stateRows } from './state.ts';
import { topologyRows } from './topology.ts';

/** All of them. */
export const unifiOperations: readonly BackendOperation[] = [
  ...inventoryRows,
  ...stateRows,
  ...securityRows,
  ...flowRows,
  ...flowTrendRows,
  ...flowBlockRows,
  ...topologyRows,
];
