// Watches a folder and those below it, with one watch for each folder: one for each file, as libraries have it, weighs
// three kilobytes, and Linux allows some ten thousand of them to all programs of a user.
import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Cancel, Clock } from './clock.ts';

/** What is watched, and who is told. */
export interface FolderWatch {
  /** Must exist. */
  readonly dir: string;
  readonly clock: Clock;
  /** Files and folders that are nobody's business. */
  ignores(path: string): boolean;
  /** A file came or was written (`exists`), or is gone. */
  onChange(path: string, exists: boolean): void;
  onError(error: Error): void;
}

// Editors and copies write in several steps: a file is told once it has been quiet for so long.
const QUIET_MS = 150;

/** Watches until the returned function is called. What is there at the beginning is not told. */
export function watchFolder({ dir, clock, ignores, onChange, onError }: FolderWatch): () => void {
  const folders = new Map<string, { watcher: FSWatcher; inode: number; files: Set<string> }>();
  const unquiet = new Map<string, Cancel>();

  const touched = (path: string) => {
    if (ignores(path)) return;
    unquiet.get(path)?.();
    unquiet.set(
      path,
      clock.after(QUIET_MS, () => {
        unquiet.delete(path);
        settled(path);
      }),
    );
  };

  const settled = (path: string) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) {
      const known = folders.get(path);
      if (known?.inode === found.ino) return;
      // Another one under the same name.
      if (known) leave(path);
      for (const file of enter(path)) onChange(file, true);
    } else if (found) {
      folders.get(dirname(path))?.files.add(path);
      onChange(path, true);
    } else if (folders.has(path)) {
      leave(path);
    } else if (folders.get(dirname(path))?.files.delete(path)) {
      onChange(path, false);
    }
  };

  /** Begins to watch a folder and those below it; returns the files in them. */
  const enter = (folder: string): string[] => {
    const files = new Set<string>();
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name !== null) return touched(join(folder, name));
        // Some systems do not say what it was.
        for (const path of [...files, ...entriesOf(folder).map(entry => entry.path)]) touched(path);
      });
      watcher.on('error', error => {
        // Windows tells the removal of a watched folder as an error.
        if (existsSync(folder)) onError(error);
        else leave(folder);
      });
      folders.set(folder, { watcher, inode: statSync(folder).ino, files });
    } catch (error) {
      onError(error as Error);
    }
    const below: string[] = [];
    for (const { path, isFolder } of entriesOf(folder)) {
      if (ignores(path)) continue;
      if (isFolder) below.push(...enter(path));
      else files.add(path);
    }
    return [...files, ...below];
  };

  /** A folder is gone, and all that was in it. */
  const leave = (folder: string) => {
    const left = folders.get(folder);
    folders.delete(folder);
    left?.watcher.close();
    for (const inner of [...folders.keys()]) if (dirname(inner) === folder) leave(inner);
    for (const file of left?.files ?? []) onChange(file, false);
  };

  enter(dir);
  return () => {
    for (const { watcher } of folders.values()) watcher.close();
    for (const cancel of unquiet.values()) cancel();
    folders.clear();
  };
}

function entriesOf(folder: string): { path: string; isFolder: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map(entry => ({
      path: join(folder, entry.name),
      isFolder: entry.isDirectory(),
    }));
  } catch {
    return [];
  }
}
