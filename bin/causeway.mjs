#!/usr/bin/env node
// The command `causeway`: the built program, or in a checkout whose sources have changed since, the sources through tsx.
// Writes nothing itself: stdout may carry a protocol (`causeway mcp`).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkNode, isStale, mainFile, ROOT } from './toolchain.mjs';

checkNode(ROOT);
const tsx = join(ROOT, 'node_modules/tsx/dist/loader.mjs');

if (isStale(ROOT) && existsSync(tsx)) runSources();
else if (existsSync(mainFile(ROOT))) {
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(mainFile(ROOT)).href);
} else {
  console.error('Causeway is not built yet: run `npm start` once, or `npm ci` and `npm run build`.');
  process.exitCode = 1;
}

function runSources() {
  // As a flag, so that worker threads inherit it.
  const args = ['--import', pathToFileURL(tsx).href, join(ROOT, 'src/main.ts'), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    // Ctrl-C in a terminal reaches the child by itself.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exitCode = code ?? 1;
  });
}
