// The thread of simulations: a scenario of a year of minutes must not hold the main loop.
import { CausewayError } from '../lib/errors.ts';
import { answerRequests } from '../lib/worker.ts';
import type { Json } from '../model/value.ts';
import { readScenario, runScenario, testOf } from './run.ts';
import type { WorldOptions } from './world.ts';

/** What is to be simulated: a scenario, or the tests of a rule in the house that it belongs to. */
export type SimulationRequest = { scenario: Json } | { rule: Json; tests: Json[] };

/** Where the house stands, and what it calls its things. */
export interface SimulationHouse {
  location?: WorldOptions['location'];
  house?: unknown;
}

/** What came of one scenario. */
export interface SimulationOutcome {
  name: string;
  ok: boolean;
  failures: string[];
}

const answers = {
  async simulate(request: SimulationRequest, home: SimulationHouse): Promise<SimulationOutcome[]> {
    const scenarios =
      'scenario' in request
        ? [readScenario(request.scenario)]
        : request.tests.map((test, index) =>
            testOf(request.rule, test, { house: home.house, source: `tests/${index}` }),
          );
    const outcomes: SimulationOutcome[] = [];
    for (const scenario of scenarios) {
      const { name, ok, failures } = await runScenario(scenario, home.location ? { location: home.location } : {});
      outcomes.push({ name, ok, failures: [...failures] });
    }
    if (outcomes.length === 0) throw new CausewayError('INPUT_INVALID', 'there is nothing to simulate');
    return outcomes;
  },
};

/** What the worker of simulations answers. */
export type SimulateAnswers = typeof answers;

answerRequests(answers);
