// `npm run bench`: the figures of the promises, as ratios within one run on one machine. The last line is one JSON object.
// `npm run bench -- --quick` takes fewer rounds; `npm run bench -- engine start` only these.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Benchmark, Figure } from './benchmark.ts';
import { bus } from './bus.ts';
import { durable } from './durable.ts';
import { engine } from './engine.ts';
import { start } from './start.ts';

const BENCHMARKS: Readonly<Record<string, Benchmark>> = { engine, bus, durable, start };

const root = resolve(import.meta.dirname, '..');
const wanted = process.argv.slice(2).filter(word => !word.startsWith('--'));
const quick = process.argv.includes('--quick');

const built = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
if (built.status !== 0) process.exit(1);

const figures: Figure[] = [];
const home = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
let failed = false;
try {
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const dir = join(home, name);
    mkdirSync(dir, { recursive: true });
    try {
      for (const figure of await benchmark({ dist: join(root, 'dist'), dir, quick })) {
        figures.push(figure);
        console.log(lineOf(figure));
      }
    } catch (error) {
      failed = true;
      console.error(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
console.log(JSON.stringify(Object.fromEntries(figures.map(({ key, value }) => [key, round(value)]))));
if (failed) process.exitCode = 1;

function lineOf({ key, value, target, unit = '', what }: Figure): string {
  const met = target === undefined ? '    ' : value <= target ? 'ok  ' : 'OVER';
  const goal = target === undefined ? '' : ` (at most ${target})`;
  return `${met} ${key.padEnd(22)} ${`${round(value)} ${unit}`.padEnd(12)} ${what}${goal}`;
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
