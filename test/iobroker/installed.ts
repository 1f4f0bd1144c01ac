// Tests that need the real ioBroker.
import { describe } from 'vitest';
import { isInstalled } from './packages.ts';

/** `describe`, skipped where ioBroker is not installed; skips.ts tells of it. */
export const describeIobroker = (name: string, tests: () => void): void => {
  describe.skipIf(!isInstalled())(name, tests);
};
