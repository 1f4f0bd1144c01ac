// The store in memory: simulations, backtests and tests. Values are kept as JSON texts, so that a value changed after its
// commit, or one that JSON cannot carry, behaves as it does on the disk.
import { CausewayError } from '../lib/errors.ts';
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import { nextRevision } from './sqlite-records.ts';
import { type AuditRecord, type Revision, type Store, TABLES, type TableName, type Tables } from './store.ts';
import { TRACE_LIMITS, type TraceLimits, traceIndex } from './trace-index.ts';

/** A store that can be killed. */
export interface MemoryStore extends Store {
  /**
   * A fresh store with what this one would have on its disk now. `kill`: all that was committed. `power`: what was
   * committed up to the last full commit; lazy ones since then are lost, the worst that can happen.
   */
  snapshot(after: 'kill' | 'power'): MemoryStore;
}

/** Bounds, as of the SQLite store. */
interface MemoryStoreOptions {
  readonly traces?: TraceLimits;
  readonly auditLimit?: number;
}

type Rows = Map<string, string>;

/** What a store holds: what would lie on a disk. */
interface Content {
  readonly tables: Record<TableName | 'traces', Rows>;
  readonly revisions: Map<string, Revision[]>;
  readonly audit: string[];
}

const DONE = Promise.resolve();

/** An empty store. A commit is done when it returns: its promise is resolved already. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const tables = Object.fromEntries([...TABLES, 'traces'].map(name => [name, new Map()])) as Content['tables'];
  return storeOf({ tables, revisions: new Map(), audit: [] }, options);
}

function storeOf({ tables, revisions, audit }: Content, options: MemoryStoreOptions): MemoryStore {
  const { traces: limits = TRACE_LIMITS, auditLimit = 20_000 } = options;
  // What lazy commits did since the last full one: rows as they were before, and records added to the audit.
  const before = new Map<Rows, Map<string, string | undefined>>();
  let freshAudit = 0;
  const index = traceIndex(limits);
  for (const text of tables.traces.values()) fileTrace(JSON.parse(text) as Trace);

  function set(rows: Rows, key: string, text: string | undefined, full: boolean): void {
    if (!full) remember(rows, key, text);
    if (text === undefined) rows.delete(key);
    else rows.set(key, text);
  }

  function remember(rows: Rows, key: string, text: string | undefined): void {
    const kept = before.get(rows) ?? new Map<string, string | undefined>();
    before.set(rows, kept);
    if (!kept.has(key)) kept.set(key, rows.get(key));
    // A row that came and went leaves nothing to undo, however many there are.
    else if (text === undefined && kept.get(key) === undefined) kept.delete(key);
  }

  function synced(): void {
    before.clear();
    freshAudit = 0;
  }

  function fileTrace(trace: Trace): void {
    const { gone } = index.add(trace.run, trace.rule, trace.outcome);
    for (const { run } of gone) set(tables.traces, run, undefined, false);
  }

  function durable(name: TableName | 'traces'): Rows {
    const rows = new Map(tables[name]);
    for (const [key, text] of before.get(tables[name]) ?? []) {
      if (text === undefined) rows.delete(key);
      else rows.set(key, text);
    }
    return rows;
  }

  const traceOf = (run: string): Trace[] => {
    const text = tables.traces.get(run);
    return text === undefined ? [] : [JSON.parse(text) as Trace];
  };

  return {
    load() {
      const parsed = TABLES.map(name => {
        const rows = [...tables[name]].map(([key, text]) => [key, JSON.parse(text) as Json] as const);
        return [name, new Map(rows)] as const;
      });
      const loaded = Object.fromEntries(parsed) as Tables;
      return Promise.resolve({ tables: loaded, corrupt: [] });
    },
    commit(changes, durability) {
      const full = durability === 'full';
      for (const { table, key, value } of changes) {
        set(tables[table], key, value === undefined ? undefined : JSON.stringify(value), full);
      }
      if (full && changes.length > 0) synced();
      return DONE;
    },

    async addRevision(revision) {
      const ofRule = revisions.get(revision.rule) ?? [];
      nextRevision(revision.rule, revision.revision, ofRule.at(-1)?.revision);
      revisions.set(revision.rule, [...ofRule, structuredClone(revision)]);
      synced();
    },
    revisions: async (rule, limit = 1_000) => [...(revisions.get(rule) ?? [])].reverse().slice(0, limit),
    revision: async (rule, revision) => revisions.get(rule)?.[revision - 1],
    lastRevisions: async () => [...revisions.values()].flatMap(ofRule => ofRule.slice(-1)),

    putTraces(all) {
      for (const trace of all) {
        set(tables.traces, trace.run, JSON.stringify(trace), false);
        fileTrace(trace);
      }
      return DONE;
    },
    trace: async run => traceOf(run)[0],
    traces: async query => index.find(query).flatMap(({ run }) => traceOf(run)),

    addAudit(records) {
      audit.push(...records.map(record => JSON.stringify(record)));
      audit.splice(0, audit.length - auditLimit);
      freshAudit += records.length;
      return DONE;
    },
    async audit({ principal, op, before: until, limit }) {
      return audit
        .map(text => JSON.parse(text) as AuditRecord)
        .filter(
          record =>
            (principal === undefined || record.principal === principal) &&
            (op === undefined || record.op === op) &&
            (until === undefined || record.at < until),
        )
        .reverse()
        .slice(0, limit);
    },

    backup: () => Promise.reject(new CausewayError('UNSUPPORTED', 'a simulation has no database to back up')),
    close: () => DONE,
    snapshot(after) {
      const names = [...TABLES, 'traces'] as const;
      const copy = names.map(name => [name, after === 'kill' ? new Map(tables[name]) : durable(name)] as const);
      const kept = after === 'kill' ? audit.length : Math.max(0, audit.length - freshAudit);
      const content = {
        tables: Object.fromEntries(copy) as Content['tables'],
        revisions: new Map(revisions),
        audit: audit.slice(0, kept),
      };
      return storeOf(content, options);
    },
  };
}
