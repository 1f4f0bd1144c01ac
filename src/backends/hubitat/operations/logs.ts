// The hub's own log, as far back as it keeps it.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import { instant } from '../../../lib/instant.ts';
import type { Json } from '../../../model/value.ts';
import { LEVELS } from '../logsocket.ts';
import { hubTime } from '../times.ts';
import { limit, read } from './row.ts';

/** An entry of the hub's log. */
interface LogEntry {
  /** Epoch ms. */
  readonly at: number;
  readonly level: string;
  /** `dev`, `app` or another word of the hub's. */
  readonly type: string;
  /** The hub's own id of the device or app. */
  readonly source: string;
  readonly name: string;
  readonly message: string;
}

const LINE = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})\t(\w+)\t([^|\t]*)\|([^|\t]*)\|([^|\t]*)\|([\s\S]*)$/;

/**
 * `/logs/past/json`: texts, oldest first, `time\tlevel\ttype|id|name|message`, times in UTC; one that begins otherwise goes
 * on with the entry before it. Newest first.
 */
function readLog(page: Json): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const line of Array.isArray(page) ? page : []) {
    if (typeof line !== 'string') continue;
    const [, time, level = '', type = '', source = '', name = '', message = ''] = LINE.exec(line) ?? [];
    const at = hubTime(time);
    if (at !== undefined) entries.push({ at, level: level.toLowerCase(), type, source, name, message: plain(message) });
    else {
      const last = entries.pop();
      if (last) entries.push({ ...last, message: `${last.message}\n${plain(line)}` });
    }
  }
  return entries.reverse();
}

/** Messages of newer firmware are marked up with HTML. */
const plain = (text: string): string => text.replace(/<[^>]*>/g, '');

const listLogs = read({
  name: 'list_hubitat_logs',
  title: 'Log of a Hubitat hub',
  description:
    'What a Hubitat hub, its drivers and apps have logged, newest first; narrow by level, device, app, text or time. The newest of the log socket are also events of kind system (list_events).',
  input: {
    level: z.enum(LEVELS).optional().describe('From this level on'),
    device: z.string().min(1).optional().describe('Device id (`hubitat:42`) or alias'),
    app: z.string().regex(/^\d+$/).optional().describe('The hub’s number of an app'),
    text: z.string().min(1).optional().describe('Part of the message or the name, case ignored'),
    since: z.string().optional().describe('`2h`, or an instant'),
    until: z.string().optional().describe('`10m`, or an instant'),
    limit,
  },
  output: { entries: z.array(z.looseObject({ at: z.string(), level: z.string(), message: z.string() })) },
  path: 'logs',
  async run(hub, input, { signal }) {
    const { device, app, text = '' } = input;
    const now = hub.clock.now();
    const from = instant(input.since, now, 'since') ?? Number.NEGATIVE_INFINITY;
    const to = instant(input.until, now, 'until') ?? Number.POSITIVE_INFINITY;
    const least = input.level === undefined ? 0 : LEVELS.indexOf(input.level);
    const of =
      device !== undefined ? { type: 'dev', id: hub.nativeId(device) } : app !== undefined && { type: 'app', id: app };
    const page = await hub.pages.json(
      `/logs/past/json${of ? `?type=${of.type}&id=${encodeURIComponent(of.id)}` : ''}`,
      { signal },
    );
    const found = readLog(page).filter(
      entry =>
        entry.at >= from &&
        entry.at <= to &&
        // A level that is not known is rather shown than lost.
        ((LEVELS as readonly string[]).indexOf(entry.level) === -1 || LEVELS.indexOf(entry.level as 'info') >= least) &&
        // Older firmware tells all, whatever is asked.
        (!of || (entry.type === of.type && entry.source === of.id)) &&
        `${entry.name} ${entry.message}`.toLowerCase().includes(text.toLowerCase()),
    );
    return {
      total: found.length,
      entries: found.slice(0, input.limit ?? 100).map(({ at, type, source, ...entry }) => ({
        at: iso(at),
        ...entry,
        ...(type === 'dev' ? { device: `${hub.id}:${source}` } : { [type || 'source']: source }),
      })),
    };
  },
});

/** The hub's log. */
export const logRows = [listLogs];
