// Flows as they end: consoles push none, so they are asked for every few seconds, in windows that overlap (a flow is written
// some time after it has ended), each told once. What could not be fetched is told, never lost in silence.
import type { Cancel, Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { ConsoleClient } from '../console/client.ts';
import { remember, repeat } from '../console/repeat.ts';
import type { Counters } from '../counters.ts';
import type { Flow } from './flow.ts';
import { type FlowFilter, flowPage, PAGE } from './query.ts';

/** What is remembered over connections. */
export interface FlowMemory {
  /** When we began, epoch ms by the console's clock: what ended before is no news. */
  startedAt: number | undefined;
  /** Until when was looked, by the same clock. */
  until: number;
  /** Until when the last whole look has looked. */
  wholeUntil: number;
  looks: number;
  /** Ids that were told, the oldest first. */
  readonly seen: Set<string>;
  /** The console has no flows, and that was said. */
  isMissing: boolean;
}

/** Nothing. */
export const noFlows = (): FlowMemory => ({
  startedAt: undefined,
  until: 0,
  wholeUntil: 0,
  looks: 0,
  seen: new Set(),
  isMissing: false,
});

/** Which flows are told. */
export type FlowChoice = 'blocked' | 'risky' | 'all';

/** What polling needs. */
export interface FlowPollParts {
  readonly backend: string;
  readonly choice: FlowChoice;
  readonly client: ConsoleClient;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly log: Log;
  readonly memory: FlowMemory;
  readonly consoleNow: () => number;
  onFlow(flow: Flow): void;
  /** So many, as far as the console tells, came too fast to be fetched. */
  onLost(count: number, window: { from: number; to: number }): void;
}

const QUERIES: Readonly<Record<FlowChoice, readonly FlowFilter[]>> = {
  blocked: [{ action: ['blocked'] }],
  risky: [{ action: ['blocked'] }, { risk: ['medium', 'high'] }],
  all: [{}],
};

const EVERY_MS = 15_000;
const OVERLAP_MS = 90_000;
/** What ended longer ago, while we were away, is not told any more. */
const OLDEST_MS = 900_000;
/** The console's clock is known to a second or so. */
const CLOCK_SLACK_MS = 2_000;
/** Each so many looks are whole: where one flow of thousands was written late is known to nobody. */
const WHOLE_EVERY = 4;
const MOST_PAGES = 10;
const MOST_SEEN = 20_000;

/** Asks until it is ended. */
export function pollFlows(parts: FlowPollParts): Cancel {
  const { clock, memory, log, backend, consoleNow } = parts;
  memory.startedAt ??= consoleNow() - CLOCK_SLACK_MS;
  return repeat(
    clock,
    EVERY_MS,
    async isOver => {
      await look(parts, isOver);
      memory.isMissing = false;
    },
    ({ message: error }, isMissing) => {
      // Whether the console is there is a matter of the other polls; the window goes on from where it was.
      if (!isMissing) log.debug({ backend, error }, 'the traffic flows could not be read');
      else if (!memory.isMissing) log.warn({ backend, error }, 'the console tells no traffic flows');
      memory.isMissing ||= isMissing;
    },
  );
}

async function look(parts: FlowPollParts, isOver: () => boolean): Promise<void> {
  const { choice, memory, counters, consoleNow, onFlow } = parts;
  const to = consoleNow();
  // Its clock may be set back.
  const startedAt = (memory.startedAt = Math.min(memory.startedAt ?? to, to));
  const oldest = to - OLDEST_MS;
  if (memory.until > 0 && memory.until < oldest) await tellGap(parts, memory.until, oldest, isOver);
  const isWhole = (memory.looks + 1) % WHOLE_EVERY === 0;
  const began = Math.max(startedAt, Math.min(isWhole ? memory.wholeUntil : memory.until, to), oldest);
  const window = { from: began - OVERLAP_MS, to };
  const fresh = new Map<string, Flow>();
  let lost = 0;
  for (const filter of QUERIES[choice]) {
    const { flows, missing } = await fetchNew(parts, window, filter, isWhole);
    for (const flow of flows) fresh.set(flow.id, flow);
    lost += missing;
  }
  if (isOver()) return;
  memory.looks++;
  memory.until = to;
  if (isWhole) memory.wholeUntil = to;
  remember(memory.seen, fresh.keys(), MOST_SEEN);
  const news = [...fresh.values()].filter(({ at = to }) => at >= startedAt);
  for (const flow of news.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))) onFlow(flow);
  counters.flows += news.length;
  tellLost(parts, lost, window);
}

/** Of the time between the last look and the oldest that is fetched there is no more than a number. */
async function tellGap(parts: FlowPollParts, from: number, to: number, isOver: () => boolean): Promise<void> {
  const window = { from, to };
  let lost = 0;
  // What was blocked may be of a risk as well.
  for (const filter of QUERIES[parts.choice])
    lost = Math.max(lost, (await flowPage(parts, window, filter, 0, 1)).total);
  if (isOver()) return;
  parts.memory.until = to;
  tellLost(parts, lost, window);
}

function tellLost({ counters, onLost }: FlowPollParts, lost: number, window: { from: number; to: number }): void {
  if (lost === 0) return;
  counters.lostFlows += lost;
  onLost(lost, window);
}

/** All of the window that are new, newest first; it stops at the first page of which nothing is, unless it is to be whole. */
async function fetchNew(
  parts: FlowPollParts,
  window: { from: number; to: number },
  filter: FlowFilter,
  isWhole: boolean,
): Promise<{ flows: Flow[]; missing: number }> {
  const { seen } = parts.memory;
  const flows: Flow[] = [];
  for (let number = 0; ; number++) {
    const page = await flowPage(parts, window, filter, number);
    const news = page.flows.filter(({ id }) => !seen.has(id));
    flows.push(...news);
    parts.counters.repeatedFlows += page.flows.length - news.length;
    if (!page.hasNext || (news.length === 0 && !isWhole)) return { flows, missing: 0 };
    if (number + 1 < MOST_PAGES) continue;
    // Where something was told before, so was nearly all that is older. The count is 10,000 at most.
    const isAllNew = news.length > 0 && news.length === page.flows.length;
    return { flows, missing: isAllNew ? Math.max(1, page.total - (number + 1) * PAGE) : 0 };
  }
}
