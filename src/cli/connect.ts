// `causeway connect CLIENT`: what a client must be told to reach this gateway. Nothing is written without --write.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CausewayError } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { CLIENTS, type ClientName, type Connection, snippetFor } from './connect-clients.ts';
import { whole } from './input.ts';
import type { Verb } from './parts.ts';

interface Options {
  write?: boolean;
  mqttHost: string;
  mqttPort: number;
  user?: string;
}

/** Prints a command or a snippet; --write puts the snippet into the client's own file, beside what is there. */
export const connect: Verb = (program, { parts, io, gateway, show }) => {
  program
    .command('connect <client>')
    .description(`how to connect ${Object.keys(CLIENTS).join(', ')}`)
    .option('--write', 'put it into the client’s configuration file')
    .option('--mqtt-host <host>', 'address of the broker', io.env.CAUSEWAY_MQTT__HOST ?? '127.0.0.1')
    .option('--mqtt-port <port>', 'port of the broker', whole, Number(io.env.CAUSEWAY_MQTT__PORT ?? 1883))
    .option('--user <name>', 'user at the broker')
    .action(async (name: string, options: Options, command) => {
      const { url, token } = gateway(command);
      const connection: Connection = {
        url,
        token,
        bin: parts.bin,
        node: process.execPath,
        home: io.home,
        cwd: io.cwd,
        platform: process.platform,
        mqtt: { host: options.mqttHost, port: options.mqttPort, user: options.user },
      };
      const snippet = snippetFor(name as ClientName, connection);
      if (!options.write) return show(command, snippet, snippet.text);
      if (!snippet.file) {
        throw new CausewayError('INPUT_INVALID', `${name} has no file to write`, {
          hint: 'leave --write out and use what is printed',
        });
      }
      await mergeInto(snippet.file.path, snippet.file.content);
      show(
        command,
        snippet,
        `${snippet.file.path} written${token ? '; it holds your token: keep it private, and out of git' : ''}`,
      );
    });
};

/** Merges two levels deep: `mcpServers.causeway` is replaced, all else stays. */
async function mergeInto(path: string, content: Record<string, Record<string, unknown>>): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '{}');
  const current = parseJson(text.trim() === '' ? '{}' : text);
  if (typeof current !== 'object' || current === null || Array.isArray(current)) {
    throw new CausewayError('INPUT_INVALID', `${path} is no plain JSON (it may hold comments)`, {
      hint: 'leave --write out and add what is printed by hand',
    });
  }
  const merged: Record<string, unknown> = { ...current };
  for (const [key, entries] of Object.entries(content))
    merged[key] = { ...(current[key] as object | undefined), ...entries };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(merged, null, 2)}\n`, { mode: 0o600 });
}
