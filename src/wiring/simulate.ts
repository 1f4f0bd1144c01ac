// Runs scenarios for the operations, off the main thread.
import type { House as HouseFile } from '../config/house.ts';
import type { Surroundings } from '../engine/view.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Json } from '../model/value.ts';
import type { SimulationReport } from '../ops/gateway.ts';

/** Runs each scenario in a world of its own. */
export async function simulate(
  _scenarios: readonly Json[],
  _house: HouseFile,
  _surroundings: Surroundings,
): Promise<SimulationReport> {
  throw new CausewayError('UNSUPPORTED', 'not built yet');
}

/** Runs scenario files. */
export async function simulateFiles(
  _files: readonly string[],
  _rules: string | undefined,
): Promise<{ ok: boolean; scenarios: { file: string; name: string; ok: boolean; failures: string[] }[] }> {
  throw new CausewayError('UNSUPPORTED', 'not built yet');
}
