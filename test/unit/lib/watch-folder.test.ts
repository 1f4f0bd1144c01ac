import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { watchFolder } from '../../../src/lib/watch-folder.ts';
import { eventually } from '../../kit/eventually.ts';

let dir: string;
let told: string[];
let stop: () => void;

const told$ = (line: string) => eventually(() => told.includes(line), line);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'watch-'));
  told = [];
  mkdirSync(join(dir, 'old'));
  writeFileSync(join(dir, 'here.yaml'), '1');
  writeFileSync(join(dir, 'old/inner.yaml'), '1');
  stop = watchFolder({
    dir,
    clock: systemClock,
    ignores: path => path.endsWith('.txt'),
    onChange: (path, exists) => told.push(`${exists ? '+' : '-'}${path.slice(dir.length + 1)}`),
    onError: error => told.push(`! ${error.message}`),
  });
});

afterEach(() => {
  stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('a watched folder', () => {
  it('tells files that come, change and go, once each, and nothing of what was there', async () => {
    writeFileSync(join(dir, 'new.yaml'), '1');
    await told$('+new.yaml');
    writeFileSync(join(dir, 'here.yaml'), '2');
    writeFileSync(join(dir, 'here.yaml'), '3');
    await told$('+here.yaml');
    rmSync(join(dir, 'here.yaml'));
    await told$('-here.yaml');
    expect(told).toEqual(['+new.yaml', '+here.yaml', '-here.yaml']);
  });

  it('tells one that is renamed into place', async () => {
    writeFileSync(join(dir, 'temp.txt'), '1');
    renameSync(join(dir, 'temp.txt'), join(dir, 'here.yaml'));
    await told$('+here.yaml');
    expect(told).toEqual(['+here.yaml']);
  });

  it('tells what is in a folder that comes, and what is written there later', async () => {
    mkdirSync(join(dir, 'a/b'), { recursive: true });
    writeFileSync(join(dir, 'a/b/first.yaml'), '1');
    await told$('+a/b/first.yaml');
    writeFileSync(join(dir, 'a/b/second.yaml'), '1');
    await told$('+a/b/second.yaml');
  });

  it('tells that the files of a folder are gone when it is removed, moved away or replaced', async () => {
    renameSync(join(dir, 'old'), join(tmpdir(), `${dir.split('/').at(-1)}-away`));
    await told$('-old/inner.yaml');
    rmSync(join(tmpdir(), `${dir.split('/').at(-1)}-away`), { recursive: true });
    mkdirSync(join(dir, 'old'));
    writeFileSync(join(dir, 'old/other.yaml'), '1');
    await told$('+old/other.yaml');
    rmSync(join(dir, 'old'), { recursive: true });
    await told$('-old/other.yaml');
  });

  it('leaves out what is ignored', async () => {
    writeFileSync(join(dir, 'note.txt'), '1');
    writeFileSync(join(dir, 'last.yaml'), '1');
    await told$('+last.yaml');
    expect(told).toEqual(['+last.yaml']);
  });
});
