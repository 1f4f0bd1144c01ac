// `npm run bench`: the figures of the design, as ratios in one run wherever another program can be run beside ours. One
// readable line for each, and the last line of stdout is one JSON object. `--quick` for fewer rounds, `--only NAME`
// for one benchmark, `--dist DIR` to measure a build that lies elsewhere. It needs /proc (Linux).
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Benchmark, Figure } from './benchmark.ts';
import { durable } from './durable.ts';
import { dispatch, lag, timers } from './engine.ts';
import { hubitat } from './hubitat.ts';
import { iobroker } from './iobroker.ts';
import { presence } from './presence.ts';
import { through } from './through.ts';
import { unifi } from './unifi.ts';
import { weight } from './weight.ts';

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  dispatch,
  timers,
  lag,
  weight,
  durable,
  through,
  hubitat,
  iobroker,
  presence,
  unifi,
};

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' }, dist: { type: 'string' } },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(values.dist ?? join(root, 'dist'));
if (values.dist === undefined) {
  // What is measured is what runs: compiled, not loaded through tsx.
  execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: root, stdio: ['ignore', 2, 2] });
}

const short = (n: number) => (n >= 100 ? n.toFixed(0) : n.toPrecision(3));

function line({ key, value, target, unit = '', what }: Figure): string {
  const verdict = target === undefined ? '      ' : value <= target ? 'ok    ' : 'MISSED';
  const bound = target === undefined ? '' : `≤ ${short(target)}`;
  return `${verdict} ${key.padEnd(22)} ${`${short(value)} ${unit}`.padEnd(10)} ${bound.padEnd(8)} ${what}`;
}

const figures: Figure[] = [];
const dir = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
try {
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
    if (values.only !== undefined && values.only !== name) continue;
    const own = join(dir, name);
    mkdirSync(own);
    for (const figure of await benchmark({ dist, dir: own, quick: values.quick })) {
      figures.push(figure);
      console.log(line(figure));
    }
    rmSync(own, { recursive: true, force: true });
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
console.log(JSON.stringify(Object.fromEntries(figures.map(({ key, value }) => [key, Number(value.toPrecision(4))]))));
// Children that were left behind by a fault must not keep it from ending.
process.exit(0);
