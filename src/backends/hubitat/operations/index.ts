// The table of what only a Hubitat hub can do. A new operation is one row in the file of its family.
import type { BackendOperation } from '../../operation.ts';
import { deviceRows } from './devices.ts';
import { historyRows } from './history.ts';
import { hubRows } from './hub.ts';
import { logRows } from './logs.ts';

/** All of them. */
export const hubitatOperations: readonly BackendOperation[] = [...hubRows, ...deviceRows, ...historyRows, ...logRows];
