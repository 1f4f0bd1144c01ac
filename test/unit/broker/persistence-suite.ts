// Run by `node --test`: aedes-persistence's own suite against our persistence.
import { test } from 'node:test';
// @ts-expect-error: it has no types.
import abstractPersistence from 'aedes-persistence/abstract.js';
import { DEFAULT_LIMITS } from '../../../broker/limits.ts';
import { createMemory } from '../../../broker/memory.ts';
import { createPersistence } from '../../../broker/persistence.ts';
import { createSettler } from '../../../broker/settled.ts';
import { systemClock } from '../../../src/lib/clock.ts';

const fail = (error: unknown) => {
  throw error;
};

abstractPersistence({
  // MQTT 5 alone has subscription ids.
  test: (name: string, run: () => Promise<void>) => test(name, { skip: name.includes('subscription identifier') }, run),
  testAsync: true,
  persistence: async () => {
    const memory = createMemory({
      store: undefined,
      root: 'causeway',
      clock: systemClock,
      limits: DEFAULT_LIMITS,
      notices: { add: fail, counts: {} },
    });
    const options = { ...memory, settler: createSettler(fail), incomingBytes: 10_000, onRetainedFull: fail };
    const persistence = createPersistence(options);
    return {
      ...persistence,
      // The suite asks for it.
      broker: undefined as unknown,
      async setup(broker: { id: string }) {
        this.broker = broker;
        await persistence.setup(broker);
      },
    };
  },
});
