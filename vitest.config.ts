import { defineConfig } from 'vitest/config';
import { SkipsReporter } from './test/iobroker/skips.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    reporters: ['default', new SkipsReporter()],
  },
});
