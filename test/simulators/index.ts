// The table of simulated systems for `causeway demo`: each starts one in which things happen by themselves.
import type { SimulatorTable } from '../../src/wiring/simulators.ts';
import { startHubitatDemo } from './hubitat/demo.ts';
import { startUnifiDemo } from './unifi/demo.ts';

/** All of them. A new one is a folder and a line here, and its name in src/wiring/simulators.ts. */
export const simulators: SimulatorTable['simulators'] = {
  hubitat: startHubitatDemo,
  unifi: startUnifiDemo,
};
