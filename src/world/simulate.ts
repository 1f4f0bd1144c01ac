// Simulations off the main thread, one thread each, ended when they take too long.
import type { Clock } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { startWorker } from '../lib/worker.ts';
import type { SimulateAnswers, SimulationHouse, SimulationOutcome, SimulationRequest } from './simulate-worker.ts';

/** Longer than this no client waits for an answer. */
const TIMEOUT_MS = 25_000;
/** Two cores are enough to be kept busy by one client. */
const AT_ONCE = 2;

/** Runs simulations; at most two at once, the others wait. */
export type Simulator = (request: SimulationRequest, home: SimulationHouse) => Promise<SimulationOutcome[]>;

/** Makes the simulator of a gateway. */
export function simulatorOf(clock: Clock): Simulator {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (request, home) => {
    if (running >= AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve));
    running++;
    const worker = startWorker<SimulateAnswers>(new URL('./simulate-worker.ts', import.meta.url), {
      name: 'the simulation',
    });
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(TIMEOUT_MS, () =>
        reject(
          new CausewayError('BACKEND_TIMEOUT', `the simulation took longer than ${TIMEOUT_MS / 1000} s`, {
            hint: 'give it fewer events or an earlier until; causeway simulate has no such limit',
          }),
        ),
      );
    });
    try {
      return await Promise.race([worker.ask('simulate', request, home), late]);
    } finally {
      cancel();
      await worker.stop();
      running--;
      waiting.shift()?.();
    }
  };
}
