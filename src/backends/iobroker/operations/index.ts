// THE table of operations that only ioBroker has. An operation is one row.
import type { BackendOperation } from '../../operation.ts';
import { getHistory } from './history.ts';
import { listInstances } from './instances.ts';
import { getLogs } from './logs.ts';
import { deleteObject, getObject, searchObjects } from './objects.ts';
import { pingHost } from './ping.ts';
import { listDevices, listFunctions, listRooms } from './places.ts';
import { listStates } from './states.ts';

/** All of them, in the order in which they are listed. */
export const iobrokerOperations: readonly BackendOperation[] = [
  listStates,
  getObject,
  searchObjects,
  deleteObject,
  listDevices,
  listInstances,
  listRooms,
  listFunctions,
  getHistory,
  getLogs,
  pingHost,
];
