// The start scripts on a checkout of their own, with an npm that only notes what it was asked to do.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const repository = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const SCRIPTS = ['toolchain.mjs', 'start.mjs', 'prepare.mjs', 'causeway.mjs'];

const LOCK = {
  packages: {
    '': { name: 'causeway-gateway' },
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
    'node_modules/tool': { version: '1.0.0', dev: true },
  },
};
const MAIN = `
const [, , ...args] = process.argv;
console.log('running', ...args);
if (args[0] === 'wait') {
  process.on('SIGTERM', () => { console.log('stopped'); process.exit(7); });
  setInterval(() => {}, 1000);
  console.log('ready');
}
`;

let dir: string;
const at = (...path: string[]): string => join(dir, ...path);
const write = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

/** What npm was asked to do, in order. */
const npmCalls = (): string[] =>
  existsSync(at('npm.log')) ? readFileSync(at('npm.log'), 'utf8').trim().split('\n') : [];

function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { npm_execpath: _, NODE_ENV: __, ...rest } = process.env;
  return { ...rest, PATH: `${at('tools')}${delimiter}${rest.PATH}`, ...extra };
}

function run(script: string, args: string[] = [], extra: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('bin', script), ...args], {
    env: environment(extra),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function installed(): void {
  const { 'node_modules/other-platform': __, ...packages } = LOCK.packages;
  write('node_modules/.package-lock.json', JSON.stringify({ packages }));
  if (!existsSync(at('node_modules/better-sqlite3'))) {
    symlinkSync(join(repository, 'node_modules/better-sqlite3'), at('node_modules/better-sqlite3'));
  }
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'causeway-start-'));
  mkdirSync(at('bin'));
  for (const script of SCRIPTS) copyFileSync(join(repository, 'bin', script), at('bin', script));
  write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=20.19' } }));
  write('package-lock.json', JSON.stringify(LOCK));
  write('src/main.ts', '');
  // `npm ci` installs, `npm run build` builds; `npm fail` is what a test writes into npm.fails.
  write(
    'tools/npm',
    `#!/bin/sh
echo "$@" >> ${at('npm.log')}
[ -f ${at('npm.fails')} ] && exit 1
case "$*" in
  *build*) mkdir -p ${at('dist/src')} && cp ${at('main.js')} ${at('dist/src/main.js')} ;;
  ci*) mkdir -p ${at('node_modules')} && cp ${at('after-ci.json')} ${at('node_modules/.package-lock.json')} ;;
esac
`,
  );
  write('main.js', MAIN);
  write('after-ci.json', JSON.stringify(LOCK));
  chmodSync(at('tools/npm'), 0o755);
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('npm start', () => {
  test('in an empty clone checks for a compiler, says that SQLite is compiled once, installs, builds and runs', () => {
    const { status, stdout, stderr } = run('start.mjs', ['serve', '--port', '1']);
    expect(status).toBe(0);
    expect(npmCalls()).toEqual(['ci --include=dev', 'run --silent build']);
    expect(stderr).toMatch(/^SQLite is compiled once for this machine and this Node; that takes 2 to 4 minutes\.$/m);
    expect(stdout).toBe('running serve --port 1\n');
  });

  test('the second time only runs, in less than two seconds', () => {
    installed();
    run('start.mjs');
    const before = npmCalls().length;
    const start = performance.now();
    const { stdout, stderr } = run('start.mjs');
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(npmCalls()).toHaveLength(before);
    expect(stdout).toBe('running serve\n');
    expect(stderr).toBe('');
  });

  test('installs again when the lockfile asks for another version, whatever the times of the files', () => {
    installed();
    run('start.mjs');
    utimesSync(at('package-lock.json'), 1, 1);
    run('start.mjs');
    expect(npmCalls()).not.toContain('ci --include=dev');
    write(
      'package-lock.json',
      JSON.stringify({ packages: { ...LOCK.packages, 'node_modules/a': { version: '2.0.0' } } }),
    );
    const { stderr } = run('start.mjs');
    expect(npmCalls()).toContain('ci --include=dev');
    expect(stderr).toContain('(a has changed)');
    expect(stderr).not.toContain('compiled');
  });

  test('compiles SQLite alone when it is there but not for this Node', () => {
    installed();
    rmSync(at('node_modules/better-sqlite3'));
    write('node_modules/better-sqlite3/build/Release/better_sqlite3.node', 'of another Node');
    run('start.mjs');
    expect(npmCalls()).toEqual(['rebuild better-sqlite3', 'run --silent build']);
  });

  test('builds again when a source is changed, new or gone', () => {
    installed();
    write('src/other.ts', '');
    run('start.mjs');
    const builds = () => npmCalls().filter(call => call.includes('build')).length;
    expect(builds()).toBe(1);
    write('src/main.ts', '// changed');
    run('start.mjs');
    expect(builds()).toBe(2);
    rmSync(at('src/other.ts'));
    run('start.mjs');
    expect(builds()).toBe(3);
    run('start.mjs');
    expect(builds()).toBe(3);
  });

  test('builds again when the last build was interrupted', () => {
    installed();
    write('npm.fails', '');
    expect(run('start.mjs').status).toBe(1);
    rmSync(at('npm.fails'));
    expect(run('start.mjs').stdout).toBe('running serve\n');
  });

  test('stops when npm fails, and says that nothing was started', () => {
    write('npm.fails', '');
    const { status, stdout, stderr } = run('start.mjs');
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('npm ci --include=dev failed; what it said stands above. Causeway was not started.');
  });

  test('stops before npm without a compiler, and says what to install', () => {
    const { status, stderr } = run('start.mjs', [], { CXX: 'no-such-compiler', PYTHON: 'no-such-python' });
    expect(status).toBe(1);
    expect(npmCalls()).toEqual([]);
    expect(stderr).toMatch(
      /^SQLite has to be compiled once, and a C\+\+ compiler, Python 3 cannot be found\. Install it with: /,
    );
  });

  test('does not ask for a compiler when SQLite is compiled', () => {
    installed();
    expect(run('start.mjs', [], { CXX: 'no-such-compiler' }).status).toBe(0);
  });

  test('may try without a compiler', () => {
    expect(run('start.mjs', [], { CXX: 'no-such-compiler', CAUSEWAY_NO_COMPILER: '1' }).status).toBe(0);
    expect(npmCalls()).toContain('ci --include=dev');
  });

  test('stops on a Node that is too old', () => {
    write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=99.1' } }));
    const { status, stderr } = run('start.mjs');
    expect(status).toBe(1);
    expect(stderr).toContain(`Causeway needs Node.js 99.1 or newer, this is ${process.versions.node}.`);
    expect(npmCalls()).toEqual([]);
  });

  test.each(['start.mjs', 'causeway.mjs'])('%s passes a signal on, and the exit code back', async script => {
    installed();
    run('start.mjs');
    const child = spawn(process.execPath, [at('bin', script), 'wait'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const chunk of child.stdout) {
      output += chunk;
      if (output.includes('ready') && !output.includes('stopped')) child.kill('SIGTERM');
    }
    const code = child.exitCode ?? (await new Promise(resolve => child.once('exit', resolve)));
    expect(output).toContain('stopped');
    expect(code).toBe(7);
  });
});

describe('npm test', () => {
  test('first installs what is missing, and builds and starts nothing', () => {
    const { status, stdout } = run('prepare.mjs');
    expect(status).toBe(0);
    expect(stdout).toBe('');
    expect(npmCalls()).toEqual(['ci --include=dev']);
  });

  test('does nothing when all is there', () => {
    installed();
    expect(run('prepare.mjs')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(npmCalls()).toEqual([]);
  });

  test('needs the packages for testing, which running does not', () => {
    installed();
    run('start.mjs');
    write(
      'node_modules/.package-lock.json',
      JSON.stringify({ packages: { 'node_modules/a': LOCK.packages['node_modules/a'] } }),
    );
    const before = npmCalls().length;
    expect(run('start.mjs').status).toBe(0);
    expect(npmCalls()).toHaveLength(before);
    run('prepare.mjs');
    expect(npmCalls().at(-1)).toBe('ci --include=dev');
  });
});

describe('causeway', () => {
  test('runs what was built, and writes nothing itself', () => {
    installed();
    run('start.mjs');
    expect(run('causeway.mjs', ['check'])).toEqual({ status: 0, stdout: 'running check\n', stderr: '' });
  });

  test('runs the sources when they are newer', () => {
    installed();
    symlinkSync(join(repository, 'node_modules/tsx'), at('node_modules/tsx'));
    run('start.mjs');
    write(
      'src/main.ts',
      'const text: string = "from the sources"; console.log(text, ...process.argv.slice(2)); process.exitCode = 3;',
    );
    expect(run('causeway.mjs', ['check'])).toEqual({ status: 3, stdout: 'from the sources check\n', stderr: '' });
  });

  test('says what to do when nothing is built', () => {
    const { status, stderr } = run('causeway.mjs');
    expect(status).toBe(1);
    expect(stderr).toContain('Causeway is not built yet: run `npm start` once');
  });
});
