// Says at the end of a run, where nobody can overlook it, that the tests against a real ioBroker did not run.
import type { Reporter, TestModule } from 'vitest/node';
import { isInstalled } from './packages.ts';

const isOurs = ({ moduleId }: TestModule): boolean => /\/iobroker[^/]*\.test\.ts$/.test(moduleId);
const isSkipped = (module: TestModule): boolean =>
  [...module.children.allTests()].some(test => test.result().state === 'skipped');

/** A reporter beside vitest's own. */
export class SkipsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.filter(module => isOurs(module) && isSkipped(module));
    if (skipped.length === 0 || isInstalled()) return;
    const line = '!'.repeat(100);
    console.error(
      `${line}\n!! SKIPPED: ${skipped.length} files of tests against a real ioBroker, which is not installed here.\n` +
        `!! To run them: npm run test:iobroker:install (330 MB, a minute or two), and again npm test.\n${line}`,
    );
  }
}
