// The store on SQLite, in a worker thread so that an fsync never blocks the main loop.
import type { CausewayError } from '../lib/errors.ts';
import { startWorker } from '../lib/worker.ts';
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { RevisionRow } from './sqlite-records.ts';
import type { StoreAnswers } from './sqlite-worker.ts';
import { type AuditRecord, type Revision, type Store, TABLES, type TableName, type Tables } from './store.ts';
import { TRACE_LIMITS, type TraceLimits } from './trace-index.ts';

/** Where the database is, and what is kept in it. */
export interface SqliteStoreOptions {
  /** `data/causeway.db`. */
  readonly path: string;
  readonly traces?: TraceLimits;
  /** Audit records that are kept; 20,000 unless told. */
  readonly auditLimit?: number;
  /** The worker died; nothing can be stored any more. */
  readonly onExit?: (error: CausewayError) => void;
}

/**
 * Opens, creates or migrates the database.
 * @throws CausewayError DATABASE_NEWER or DATA_UNWRITABLE
 */
export async function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, traces = TRACE_LIMITS, auditLimit = 20_000, onExit } = options;
  const worker = startWorker<StoreAnswers>(new URL('./sqlite-worker.ts', import.meta.url), {
    name: `the store's worker (${path})`,
    youngMegabytes: 6,
    ...(onExit && { onExit }),
  });
  try {
    await worker.ask('open', { path, traces, auditLimit });
  } catch (error) {
    await worker.stop();
    throw error;
  }

  return {
    async load() {
      const { tables, damaged } = await worker.ask('load');
      const loaded = Object.fromEntries(TABLES.map(name => [name, new Map()])) as Tables;
      const wrong: { table: TableName; key: string; error: string }[] = [];
      for (const [table, rows] of tables) {
        for (let i = 0; i < rows.length; i += 2) {
          const key = String(rows[i]);
          try {
            loaded[table].set(key, JSON.parse(String(rows[i + 1])) as Json);
          } catch (error) {
            wrong.push({ table, key, error: (error as Error).message });
          }
        }
      }
      // On a full disk they stay where they are and are found again by the next start.
      if (wrong.length > 0) await worker.ask('quarantine', wrong).catch(() => {});
      return { tables: loaded, corrupt: [...damaged, ...wrong] };
    },
    async commit(changes, durability) {
      if (changes.length === 0) return;
      const rows: (string | null)[] = [];
      for (const { table, key, value } of changes) {
        rows.push(table, key, value === undefined ? null : (JSON.stringify(value) ?? null));
      }
      await worker.ask('commit', rows, durability === 'full');
    },

    addRevision: ({ source = null, ...revision }) =>
      worker.ask('addRevision', { ...revision, source, body: JSON.stringify(revision.body) }),
    revisions: async (rule, limit = 1_000) => (await worker.ask('revisions', rule, limit)).flatMap(asRevision),
    async revision(rule, revision) {
      const row = await worker.ask('revision', rule, revision);
      return row && asRevision(row)[0];
    },
    lastRevisions: async () => (await worker.ask('lastRevisions')).flatMap(asRevision),

    async putTraces(all) {
      if (all.length === 0) return;
      const rows = all.map(trace => ({
        run: trace.run,
        rule: trace.rule,
        outcome: trace.outcome,
        body: JSON.stringify(trace),
      }));
      await worker.ask('putTraces', rows);
    },
    async trace(run) {
      const text = await worker.ask('trace', run);
      return text === undefined ? undefined : readable<Trace>(text)[0];
    },
    traces: async query => (await worker.ask('traces', query)).flatMap(readable<Trace>),

    async addAudit(records) {
      if (records.length === 0) return;
      const rows = records.map(record => ({
        ...record,
        input: JSON.stringify(record.input),
        code: record.code ?? null,
      }));
      await worker.ask('addAudit', rows);
    },
    async audit(query) {
      const rows = await worker.ask('audit', query);
      return rows.flatMap(({ input, code, ...row }) =>
        readable<Json>(input).map(value => ({ ...row, input: value, ...(code !== null && { code }) }) as AuditRecord),
      );
    },

    backup: to => worker.ask('backup', to),
    async close() {
      await worker.ask('close');
      await worker.stop();
    },
  };
}

const asRevision = ({ source, ...row }: RevisionRow): Revision[] =>
  readable<Json>(row.body).map(body => ({ ...row, body, ...(source !== null && { source }) }));

// A text that is none any more is left out: one broken row must not hide the others.
function readable<T>(text: string): T[] {
  try {
    return [JSON.parse(text) as T];
  } catch {
    return [];
  }
}
