// `npm run docs`: writes the pages, schemas and examples that are generated from the sources. With `--check` it writes
// nothing, names those that are stale, and exits with 1 when there is one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generate, ROOT, staleFiles } from './docs/index.ts';

const stale = staleFiles();
if (process.argv.includes('--check')) {
  for (const path of stale) console.error(`${path} is stale: run npm run docs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  const files = generate();
  for (const path of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), files.get(path) ?? '');
    console.log(`${path} written`);
  }
  console.log(`${files.size} files, ${stale.length} of them changed`);
}
