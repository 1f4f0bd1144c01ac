// The packages of this folder: where they lie, and whether they are there.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T;

/** The folder of one of ioBroker's packages. */
export const packageFolder = (name: string): string => join(ROOT, 'node_modules', name);

/** A JSON file of one of them. */
export const packageJson = <T>(name: string, file: string): T => readJson<T>(join(packageFolder(name), file));

/** Whether all that package.json names is there, in its version. */
export function isInstalled(): boolean {
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>(join(ROOT, 'package.json'));
  return Object.entries(dependencies).every(
    ([name, version]) =>
      existsSync(join(packageFolder(name), 'package.json')) &&
      packageJson<{ version: string }>(name, 'package.json').version === version,
  );
}

/** The environment of our own children, without what vitest has put in. */
export const childEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_)/.test(name)));
