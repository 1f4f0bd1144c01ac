// What verbs read: files of YAML or JSON, standard input, values on the command line.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { CausewayError } from '../lib/errors.ts';
import { type Json, parseJson } from '../lib/json.ts';
import { parseYaml } from '../lib/yaml.ts';
import type { CliIo } from './parts.ts';

/** A file's text; `-` is standard input. @throws CausewayError INPUT_INVALID */
export async function readText(file: string, io: CliIo): Promise<string> {
  if (file === '-') return text(io.stdin);
  return readFile(resolve(io.cwd, file), 'utf8').catch(cause => {
    throw new CausewayError('INPUT_INVALID', `${file} cannot be read`, {
      hint: 'is the path right? - reads standard input',
      cause,
    });
  });
}

/** The object in a file of YAML or JSON. @throws CausewayError INPUT_INVALID with line and column */
export async function readObject(file: string, io: CliIo): Promise<Record<string, unknown>> {
  const { value } = parseYaml(await readText(file, io), { file });
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CausewayError('INPUT_INVALID', `${file} holds no object`, { hint: 'it must be a map of keys and values' });
}

/** A whole number as an option has it. @throws InvalidArgumentError, which ends as a wrong command line */
export function whole(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** `level=50 color=#fff` as an object; values are JSON where they parse as it, else text. */
export function pairs(texts: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    texts.map(pair => {
      const at = pair.indexOf('=');
      if (at < 1) throw new CausewayError('INPUT_INVALID', `"${pair}" is no argument`, { hint: 'write NAME=VALUE' });
      const value = pair.slice(at + 1);
      return [pair.slice(0, at), parseJson(value) ?? value];
    }),
  );
}
