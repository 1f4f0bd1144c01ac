// Simulated systems that the demo can bridge. They live with the tests, whose other half they are, and are built along with
// a checkout; an image does not have them.
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CausewayError } from '../lib/errors.ts';

/** Types of backend that have one, each with a row in test/simulators/index.ts. */
export const SIMULATED = ['hubitat', 'unifi'] as const;
/** A name of `SIMULATED`. */
export type Simulated = (typeof SIMULATED)[number];

/** A simulated system that runs, and in which things happen by themselves. */
export interface SimulatedSystem {
  /** Where it answers, for people. */
  readonly url: string;
  /** What config.yaml says of it below `backends`. */
  readonly backend: { readonly type: Simulated } & Readonly<Record<string, unknown>>;
  /** Example rules over its devices: the file's name → the rule. */
  readonly rules: Readonly<Record<string, object>>;
  stop(): Promise<void>;
}

/** What test/simulators/index.ts exports. */
export interface SimulatorTable {
  readonly simulators: Readonly<Record<Simulated, () => Promise<SimulatedSystem>>>;
}

/** Starts one. @throws UNSUPPORTED where they were not built */
export async function startSimulated(type: Simulated): Promise<SimulatedSystem> {
  // Beside src, be it the sources or what was built of them.
  const table = new URL(`../../test/simulators/index${extname(import.meta.url)}`, import.meta.url);
  if (!existsSync(fileURLToPath(table))) {
    throw new CausewayError('UNSUPPORTED', `this installation has no simulated ${type}`, {
      hint: 'simulators are part of a checkout of the sources: run `npm start -- demo` there',
    });
  }
  const { simulators } = (await import(table.href)) as SimulatorTable;
  return simulators[type]();
}
