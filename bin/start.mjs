// `npm start`: installs, builds and runs Causeway, whatever of that is still to do. Nothing but Node is needed before.
import { pathToFileURL } from 'node:url';
import { build, checkNode, ensureInstalled, isStale, mainFile, ROOT } from './toolchain.mjs';

checkNode(ROOT);
const stale = isStale(ROOT);
ensureInstalled(ROOT, { dev: stale });
if (stale) build(ROOT);

// Without a verb, the gateway; `npm start -- demo` and the like say otherwise.
if (process.argv.length === 2) process.argv.push('serve');

// In this process, so that signals and the exit code are the program's own.
process.setSourceMapsEnabled(true);
await import(pathToFileURL(mainFile(ROOT)).href);
