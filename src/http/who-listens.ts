// Names the process that holds a port, for the error message of a start that failed. Best effort: Linux tells through
// /proc, and only of the same user's processes.
import { readdir, readFile, readlink } from 'node:fs/promises';

/** `node server.js (pid 42)`, `another Causeway gateway`, or undefined when nobody can be named. */
export async function whoListens(host: string, port: number): Promise<string | undefined> {
  const [gateway, owner] = await Promise.all([isCauseway(host, port), processOf(port).catch(() => undefined)]);
  if (!gateway) return owner;
  return owner ? `another Causeway gateway, ${owner}` : 'another Causeway gateway';
}

async function isCauseway(host: string, port: number): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}/healthz`;
    const response = await fetch(url, { signal: AbortSignal.timeout(500) });
    return ((await response.json()) as { name?: string }).name === 'causeway';
  } catch {
    return false;
  }
}

const LISTEN = '0A';

async function processOf(port: number): Promise<string | undefined> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')));
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  // Columns of proc(5): sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
  const inodes = new Set(
    tables
      .flatMap(table => table.split('\n').slice(1))
      .map(line => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === LISTEN && local?.endsWith(`:${wanted}`))
      .map(columns => `socket:[${columns[9]}]`),
  );
  if (inodes.size === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const handles = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(handles.map(handle => readlink(`/proc/${pid}/fd/${handle}`).catch(() => '')));
    if (!links.some(link => inodes.has(link))) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ').trim().slice(0, 80);
    return `${command} (pid ${pid})`;
  }
  return undefined;
}
