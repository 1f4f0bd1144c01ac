// Which traces there are: by run and by rule, bounded per rule and in total. Kept in memory, because an index on the disk
// would dirty a page of its own for each trace of another rule (9-20 times the cost of appending).

/** How many traces are kept. */
export interface TraceLimits {
  readonly perRule: number;
  readonly total: number;
}

/** 50 of each rule, 20,000 in all (some 30 MB on the disk). */
export const TRACE_LIMITS: TraceLimits = { perRule: 50, total: 20_000 };

/** A trace as the index knows it. */
export interface TraceEntry {
  readonly run: string;
  readonly rule: string;
  outcome: string;
  /** Rises with each new run; the row id on the disk. */
  readonly place: number;
}

/** A question for traces, newest first. */
export interface TraceQuery {
  readonly rule?: string;
  readonly outcome?: string;
  /** A run id; ULIDs sort by time. */
  readonly before?: string;
  readonly limit: number;
}

/** The index. */
interface TraceIndex {
  /** Files a new trace, or the new outcome of a known one. `gone`: the oldest, which have to go for it. */
  add(run: string, rule: string, outcome: string, place?: number): { entry: TraceEntry; gone: TraceEntry[] };
  get(run: string): TraceEntry | undefined;
  find(query: TraceQuery): TraceEntry[];
}

/** An empty index. */
export function traceIndex(limits: TraceLimits = TRACE_LIMITS): TraceIndex {
  const byRun = new Map<string, TraceEntry>();
  const byRule = new Map<string, TraceEntry[]>();
  // Oldest first, with some that are gone already. A Map's own order would do, but finding its first key is linear in the
  // number of keys removed before it.
  let order: TraceEntry[] = [];
  let oldest = 0;

  function dropOldestOf(rule: string): TraceEntry {
    const ofRule = byRule.get(rule) as TraceEntry[];
    const entry = ofRule.shift() as TraceEntry;
    if (ofRule.length === 0) byRule.delete(rule);
    byRun.delete(entry.run);
    return entry;
  }

  const isThere = (entry: TraceEntry) => byRun.get(entry.run) === entry;

  function oldestOfAll(): TraceEntry {
    let entry = order[oldest++] as TraceEntry;
    while (!isThere(entry)) entry = order[oldest++] as TraceEntry;
    return entry;
  }

  function append(entry: TraceEntry): void {
    order.push(entry);
    if (order.length <= 2 * limits.total) return;
    order = order.slice(oldest).filter(isThere);
    oldest = 0;
  }

  let lastPlace = 0;
  return {
    add(run, rule, outcome, place = lastPlace + 1) {
      const known = byRun.get(run);
      if (known) {
        known.outcome = outcome;
        return { entry: known, gone: [] };
      }
      lastPlace = Math.max(lastPlace, place);
      const entry = { run, rule, outcome, place };
      byRun.set(run, entry);
      append(entry);
      const ofRule = byRule.get(rule);
      if (ofRule) ofRule.push(entry);
      else byRule.set(rule, [entry]);
      const gone: TraceEntry[] = [];
      if (ofRule && ofRule.length > limits.perRule) gone.push(dropOldestOf(rule));
      if (byRun.size > limits.total) gone.push(dropOldestOf(oldestOfAll().rule));
      return { entry, gone };
    },
    get: run => byRun.get(run),
    find({ rule, outcome, before, limit }) {
      const among = rule === undefined ? byRun.values() : (byRule.get(rule) ?? []);
      return [...among]
        .filter(
          entry => (outcome === undefined || entry.outcome === outcome) && (before === undefined || entry.run < before),
        )
        .sort((a, b) => (a.run < b.run ? 1 : -1))
        .slice(0, limit);
    },
  };
}
