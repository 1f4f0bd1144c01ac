// The hub's log, `/logsocket`, as log reports. Whatever becomes of it, the backend goes on.
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { parseJson } from '../../lib/json.ts';
import type { Report } from '../../model/event.ts';
import { keepSocket, type LiveSocket } from './live-socket.ts';

/** From the least to the gravest. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
/** A level of the hub's log. */
export type LogLevel = (typeof LEVELS)[number];

const Line = z.object({
  name: z.string().default(''),
  msg: z.string(),
  id: z.union([z.string(), z.number()]).transform(String),
  type: z.string(),
  level: z.string(),
});

/** A frame as a report; undefined for one below the level, or none. Newer firmware marks messages up with HTML. */
export function logReport(backend: string, text: string, from: LogLevel): Report | undefined {
  const parsed = Line.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { name, msg, id, type, level } = parsed.data;
  // A level that is not known is rather shown than lost.
  const rank = (LEVELS as readonly string[]).indexOf(level);
  if (rank >= 0 && rank < LEVELS.indexOf(from)) return undefined;
  const message = msg.replace(/<[^>]*>/g, '');
  return type === 'dev'
    ? { type: 'log', device: `${backend}:${id}`, level, message }
    : { type: 'log', level, message: `${name}: ${message}` };
}

/** Follows the log until closed. */
export function followLog(
  origin: string,
  parts: { backend: string; clock: Clock; from: LogLevel; report: (report: Report) => void },
): LiveSocket {
  return keepSocket({
    url: `${origin.replace(/^http/, 'ws')}/logsocket`,
    clock: parts.clock,
    giveUpMs: Number.POSITIVE_INFINITY,
    onText(text) {
      const report = logReport(parts.backend, text, parts.from);
      if (report) parts.report(report);
    },
    onOpen: () => {},
    onLost: () => {},
  });
}
