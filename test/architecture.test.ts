// The architecture, asserted from the import statements: layers, no cycles between folders, time in one file, files that
// stay small, tables that are complete, docs that are fresh.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** Folder of src → its row (DESIGN §2); a folder imports lower rows, or its own without a cycle. */
const ROWS: Record<string, number> = {
  lib: 0,
  config: 0,
  model: 1,
  bus: 2,
  state: 2,
  store: 2,
  command: 2,
  policy: 2,
  engine: 3,
  backends: 3,
  ops: 4,
  world: 4,
  mcp: 5,
  http: 5,
  cli: 6,
  wiring: 6,
  '': 6,
};
/** Siblings in these rows never import each other. */
const APART = new Set([3, 5]);

const files = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(ROOT, join(entry.parentPath, entry.name)));

const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const IMPORT = /(?:^|\n)(?:import|export)\s[^'"`;]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g;

/** Relative imports of a file, as paths from the root. */
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(IMPORT)]
    .map(match => match[1] ?? match[2] ?? match[3] ?? '')
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => relative(ROOT, resolve(ROOT, dirname(file), specifier)));

const folderOf = (file: string): string => {
  const parts = file.split('/');
  return parts.length > 2 ? (parts[1] as string) : '';
};

const sources = files('src');
const brokerFiles = files('broker');
// Comments name the forbidden calls to explain them.
const code = (file: string): string => text(file).replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');

describe('the layers', () => {
  it('know every folder of src', () => {
    expect([...new Set(sources.map(folderOf))].filter(folder => ROWS[folder] === undefined)).toEqual([]);
  });

  it('import downwards, or within their own row', () => {
    const upward = sources.flatMap(file =>
      importsOf(file)
        .filter(target => target.startsWith('src/') && (ROWS[folderOf(target)] ?? 9) > (ROWS[folderOf(file)] ?? -1))
        .map(target => `${file} → ${target}`),
    );
    expect(upward).toEqual([]);
  });

  it('keep the engine and the backends, and MCP and HTTP, apart', () => {
    const across = sources.flatMap(file =>
      importsOf(file)
        .filter(target => target.startsWith('src/'))
        .filter(
          target =>
            folderOf(target) !== folderOf(file) &&
            ROWS[folderOf(target)] === ROWS[folderOf(file)] &&
            APART.has(ROWS[folderOf(file)] as number),
        )
        .map(target => `${file} → ${target}`),
    );
    expect(across).toEqual([]);
  });

  it('have no cycle between folders', () => {
    const edges = new Map<string, Set<string>>();
    for (const file of sources) {
      for (const target of importsOf(file).filter(one => one.startsWith('src/'))) {
        const [from, to] = [folderOf(file), folderOf(target)];
        if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
      }
    }
    const reaches = (from: string, wanted: string, seen = new Set<string>()): boolean =>
      [...(edges.get(from) ?? [])].some(
        next => next === wanted || (!seen.has(next) && reaches(next, wanted, seen.add(next))),
      );
    expect([...edges.keys()].filter(folder => reaches(folder, folder))).toEqual([]);
  });

  it('let the broker be a thing of its own, known to src/bus/embedded.ts alone', () => {
    expect(brokerFiles.flatMap(importsOf).filter(target => !target.startsWith('broker/'))).toEqual([]);
    expect(sources.filter(file => importsOf(file).some(target => target.startsWith('broker/')))).toEqual([
      'src/bus/embedded.ts',
    ]);
  });

  it('keep the MCP SDK in three files at most', () => {
    expect(sources.filter(file => /from '@modelcontextprotocol\//.test(text(file))).length).toBeLessThanOrEqual(3);
  });
});

describe('time', () => {
  const FORBIDDEN =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bset(?:Timeout|Interval)\b|\bDateTime\.(?:now|local)\b|\bperformance\.now\b/;

  it('comes from the clock alone', () => {
    const offenders = [...sources, ...brokerFiles].filter(
      file => file !== 'src/lib/clock.ts' && FORBIDDEN.test(code(file)),
    );
    expect(offenders).toEqual([]);
  });

  it('is never taken by operators of rxjs', () => {
    const operators =
      /import \{[^}]*\b(?:timer|interval|debounceTime|throttleTime|delay|auditTime|sampleTime|bufferTime|timeout|asyncScheduler)\b[^}]*\} from 'rxjs/;
    expect(sources.filter(file => operators.test(text(file)))).toEqual([]);
  });
});

describe('the files', () => {
  it('have at most 400 lines', () => {
    const long = [...sources, ...brokerFiles].filter(file => text(file).split('\n').length > 401);
    expect(long).toEqual([]);
  });

  it('open with what they are for', () => {
    const mute = [...sources, ...brokerFiles].filter(file => !/^(?:#![^\n]*\n)?\/[/*]/.test(text(file)));
    expect(mute).toEqual([]);
  });

  it('are named in kebab-case', () => {
    expect(
      [...sources, ...brokerFiles].filter(file => !/^[a-z0-9-]+(?:\.test)?\.ts$/.test(file.split('/').at(-1) ?? '')),
    ).toEqual([]);
  });

  it('export names, never defaults', () => {
    expect([...sources, ...brokerFiles].filter(file => /^export default/m.test(text(file)))).toEqual([]);
  });
});

describe('the tables of kinds', () => {
  for (const part of ['triggers', 'conditions', 'actions']) {
    it(`list every file of ${part}`, () => {
      const table = importsOf(`src/engine/${part}/index.ts`);
      // Files that kinds share, which are none themselves.
      const shared = ['index.ts', 'level.ts', 'pipeline.ts', 'schedule.ts', 'flow-window.ts'];
      const unlisted = files(`src/engine/${part}`).filter(
        file => !shared.includes(file.split('/').at(-1) ?? '') && !table.includes(file),
      );
      expect(unlisted).toEqual([]);
    });
  }
});
