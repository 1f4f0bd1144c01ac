// What a checkout needs before Causeway can run: a Node that is new enough, packages as the lockfile says, SQLite
// compiled for this Node, and `dist` built from the sources as they are. Plain Node, no dependency, old syntax: it must run
// where nothing is installed yet and say so.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout that this file is part of. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const SQLITE = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
const MAIN = 'dist/src/main.js';
const STAMP = 'dist/.sources';
const SOURCES = [
  'src',
  'broker',
  'test/simulators',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** The built program. */
export const mainFile = root => join(root, MAIN);

const readJson = file => JSON.parse(readFileSync(file, 'utf8'));

/** Ends the process with a message for the person who started it. */
function stop(message) {
  console.error(message);
  process.exit(1);
}

/** Stops with a message when this Node is older than package.json's `engines` allow. */
export function checkNode(root) {
  const wanted = readJson(join(root, 'package.json')).engines.node.replace('>=', '');
  const [major, minor] = wanted.split('.').map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return;
  stop(
    `Causeway needs Node.js ${wanted} or newer, this is ${process.versions.node}. Get it from https://nodejs.org or with: nvm install`,
  );
}

/**
 * Installs what is missing; returns at once when nothing is. `dev`: the packages for building and testing too.
 * Stops with a message when there is no compiler for SQLite, or when npm fails.
 */
export function ensureInstalled(root, { dev }) {
  const compiled = isSqliteCompiled(root);
  const missing = missingPackage(root, dev);
  if (compiled && missing === undefined) return;
  if (!compiled) {
    checkCompiler();
    console.error('SQLite is compiled once for this machine and this Node; that takes 2 to 4 minutes.');
  }
  if (missing === undefined) return npm(root, ['rebuild', 'better-sqlite3']);
  console.error(`Installing the packages of package-lock.json (${missing}) …`);
  // Under NODE_ENV=production npm would leave out the packages that build Causeway.
  npm(root, ['ci', '--include=dev']);
}

/** Why the installed packages are not those of the lockfile; undefined when they are. Times of files say nothing after a git checkout. */
function missingPackage(root, dev) {
  const installedFile = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedFile)) return 'there are none yet';
  const installed = readJson(installedFile).packages;
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages);
  const differs = ([path, entry]) =>
    path !== '' &&
    !entry.optional &&
    !entry.devOptional &&
    (dev || !entry.dev) &&
    (installed[path]?.version !== entry.version || installed[path]?.integrity !== entry.integrity);
  const first = wanted.find(differs);
  return first && `${first[0].replace('node_modules/', '')} has changed`;
}

/** Whether the library can be loaded: it may be missing, or compiled for another version of Node. */
function isSqliteCompiled(root) {
  try {
    process.dlopen({ exports: {} }, join(root, SQLITE));
    return true;
  } catch {
    return false;
  }
}

function checkCompiler() {
  // Windows has its own ways to find one, and node-gyp explains them.
  if (process.platform === 'win32' || process.env.CAUSEWAY_NO_COMPILER === '1') return;
  const { CXX, PYTHON } = process.env;
  const isThere = command => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
  const missing = [
    ['a C++ compiler', CXX ? [CXX] : ['c++', 'g++', 'clang++']],
    ['make', ['make']],
    ['Python 3', PYTHON ? [PYTHON] : ['python3', 'python']],
  ].filter(([, commands]) => !commands.some(isThere));
  if (missing.length === 0) return;
  const how =
    process.platform === 'darwin'
      ? 'xcode-select --install'
      : 'sudo apt install build-essential python3 (or what your system calls them)';
  stop(
    `SQLite has to be compiled once, and ${missing.map(([name]) => name).join(', ')} cannot be found. Install it with: ${how}. ` +
      'To try a ready-made one instead, set CAUSEWAY_NO_COMPILER=1.',
  );
}

/** Whether `dist` is not what the sources would give. Without sources (in an image) it is what there is. */
export function isStale(root) {
  if (!existsSync(join(root, 'src'))) return false;
  if (!existsSync(mainFile(root)) || !existsSync(join(root, STAMP))) return true;
  return readFileSync(join(root, STAMP), 'utf8') !== fingerprint(root);
}

/** Builds `dist`. Stops with a message when that fails. */
export function build(root) {
  console.error('Building …');
  const sources = fingerprint(root);
  // The compiler leaves the output of files that are gone.
  for (const folder of ['dist/src', 'dist/broker', 'dist/test', STAMP])
    rmSync(join(root, folder), { recursive: true, force: true });
  npm(root, ['run', '--silent', 'build']);
  writeFileSync(join(root, STAMP), sources);
}

/** Names, sizes and times of all sources: two milliseconds, where their contents would take a hundred. */
function fingerprint(root) {
  const hash = createHash('sha256');
  const add = path => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`);
    else if (stat) hash.update(`${path}\t${stat.size}\t${stat.mtimeMs}\n`);
  };
  for (const path of SOURCES) add(path);
  return hash.digest('hex');
}

function npm(root, args) {
  const cli = process.env.npm_execpath;
  const [command, ...before] = cli ? [process.execPath, cli] : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const { status, error } = spawnSync(command, [...before, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: !cli && process.platform === 'win32',
  });
  if (status === 0) return;
  stop(
    `npm ${args.join(' ')} failed${error ? ` (${error.message})` : ''}; what it said stands above. Causeway was not started.`,
  );
}
