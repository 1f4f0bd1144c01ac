// ioBroker's log, which only the admin adapter tells: kept in a ring from the first time that somebody wants it.

import { z } from 'zod';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { asCausewayError, CausewayError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import { sessionOf } from './connection.ts';
import type { Counters } from './counters.ts';
import type { IobrokerConfig } from './schema.ts';
import { openSession } from './session.ts';
import type { IobSocket } from './socket.ts';

/** A line. */
export interface LogLine {
  /** Epoch ms. */
  readonly ts: number;
  readonly level: string;
  /** `hue.0`, `host.home` … */
  readonly source: string;
  readonly message: string;
}

/** What following the log needs. */
export interface LogsParts {
  readonly id: string;
  readonly config: IobrokerConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
  /** Undefined where none is known. */
  adminUrl(): string | undefined;
}

/** From the least to the most serious. */
export const LEVELS: readonly string[] = ['silly', 'debug', 'info', 'warn', 'error'];
const KEPT = 2_000;
const AGAIN_MS = 30_000;
const MAX_MESSAGE = 4_000;

const Live = z.object({
  severity: z.string().catch('info'),
  ts: z.number().catch(0),
  message: z.coerce.string(),
  from: z.string().catch(''),
});

/** The log of one ioBroker. */
export class Logs {
  private readonly parts: LogsParts;
  private readonly ring: LogLine[] = [];
  private readonly watchers = new Set<{ source: string; tell: () => void }>();
  private follower: ((line: LogLine) => void) | undefined;
  private opening: Promise<IobSocket> | undefined;
  private socket: IobSocket | undefined;
  private ending = new AbortController();
  private cancelAgain: Cancel = () => {};

  constructor(parts: LogsParts) {
    this.parts = parts;
  }

  /** Calls `tell` at each line of a source (`all`: of any), until what it returns is called. */
  watch(source: string, tell: () => void): () => void {
    const watcher = { source, tell };
    this.watchers.add(watcher);
    this.keepOpen();
    return () => this.watchers.delete(watcher);
  }

  /** Lines in the ring, oldest first. @throws UNSUPPORTED, and as `openSession` */
  async recent(): Promise<readonly LogLine[]> {
    await this.open();
    return this.ring;
  }

  /** The newest lines of the host's own log file, oldest first. @throws UNSUPPORTED, and as `IobSocket.call` */
  async ofFile(host: string, lines: number): Promise<LogLine[]> {
    const socket = await this.open();
    const [answer] = await socket.call('sendToHost', host, 'getLogs', lines);
    return parseFile(Array.isArray(answer) ? answer : []);
  }

  /** The connection to admin, made when it is first needed. @throws UNSUPPORTED, and as `openSession` */
  open(): Promise<IobSocket> {
    if (this.socket) return Promise.resolve(this.socket);
    this.opening ??= this.connect().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** After a start: goes on for those who watch, and gives each line from a level on until `close`. */
  resume(from: 'off' | 'error' | 'warn' | 'info' | 'debug', give: (line: LogLine) => void): void {
    if (from !== 'off') {
      const least = LEVELS.indexOf(from);
      // A level that is not known is rather shown than lost.
      this.follower = line => {
        const rank = LEVELS.indexOf(line.level);
        if (rank < 0 || rank >= least) give(line);
      };
    }
    if (this.isWanted) this.keepOpen();
  }

  close(): void {
    this.follower = undefined;
    this.cancelAgain();
    this.ending.abort(new CausewayError('BACKEND_OFFLINE', `ioBroker ${this.parts.id} has stopped`));
    this.ending = new AbortController();
    this.socket?.close();
    this.socket = undefined;
  }

  private async connect(): Promise<IobSocket> {
    const { config, clock, counters, id, adminUrl } = this.parts;
    const url = adminUrl();
    if (url === undefined) {
      throw new CausewayError('UNSUPPORTED', `the log of ioBroker ${id} can be had from its admin adapter alone`, {
        hint: 'set `admin` of this backend in config.yaml, such as ws://iobroker.lan:8081',
      });
    }
    const socket = await openSession({
      ...sessionOf(config),
      url,
      clock,
      counters,
      signal: this.ending.signal,
      onEvent: (name, args) => this.onEvent(name, args),
      onLost: () => {
        this.socket = undefined;
        this.againLater();
      },
    });
    // It is answered only where it is allowed, and lines come all the same.
    socket.call('requireLog', true).catch(() => {});
    this.socket = socket;
    return socket;
  }

  private get isWanted(): boolean {
    return this.watchers.size > 0 || this.follower !== undefined;
  }

  private keepOpen(): void {
    this.open().catch(error => {
      const { code, message } = asCausewayError(error);
      this.parts.log.warn({ backend: this.parts.id, error: message }, 'the log of ioBroker cannot be followed');
      if (code !== 'UNSUPPORTED') this.againLater();
    });
  }

  private againLater(): void {
    this.cancelAgain();
    if (!this.isWanted) return;
    this.cancelAgain = this.parts.clock.after(AGAIN_MS, () => this.keepOpen());
  }

  private onEvent(name: string, args: readonly Json[]): void {
    if (name !== 'log') return;
    for (const raw of args) {
      const parsed = Live.safeParse(raw);
      if (!parsed.success) {
        this.parts.counters.unreadable++;
        continue;
      }
      const { severity, ts, message, from } = parsed.data;
      this.add({ ts, level: severity, ...sourced(message, from) });
    }
  }

  private add(line: LogLine): void {
    this.ring.push(line);
    if (this.ring.length > KEPT * 2) this.ring.splice(0, this.ring.length - KEPT);
    this.follower?.(line);
    for (const { source, tell } of this.watchers) if (source === 'all' || source === line.source) tell();
  }
}

// `hue.0 (1234) text`: who, with the id of his process.
const SOURCED = /^([\w.-]+)\s+\((?:COMPACT|\d+)\)\s+/;

function sourced(message: string, from: string): Pick<LogLine, 'source' | 'message'> {
  const match = SOURCED.exec(message);
  const text = (match ? message.slice(match[0].length) : message).slice(0, MAX_MESSAGE);
  return { source: from || match?.[1] || '', message: text };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the terminal, which the file keeps
const COLORS = /\u001b\[\d*m/g;
const LINE = /^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d+)\s+-\s+(\w+):\s+([\w.-]+)\s+([\s\S]*)$/;

/** Lines of a log file; what continues a message belongs to it. Times are those of the machine. */
export function parseFile(lines: readonly unknown[]): LogLine[] {
  const all: LogLine[] = [];
  for (const raw of lines) {
    if (typeof raw !== 'string') continue;
    const text = raw.replace(COLORS, '').trimEnd();
    const match = LINE.exec(text);
    const ts = match ? Date.parse((match[1] as string).replace(' ', 'T')) : Number.NaN;
    const last = all.at(-1);
    if (match && !Number.isNaN(ts)) {
      const [, , level = 'info', source = '', rest = ''] = match;
      all.push({ ts, level, source, message: rest.replace(/^\((?:COMPACT|\d+)\)\s+/, '').slice(0, MAX_MESSAGE) });
    } else if (last && text !== '') {
      all[all.length - 1] = { ...last, message: `${last.message}\n${text}`.slice(0, MAX_MESSAGE) };
    }
  }
  return all;
}
