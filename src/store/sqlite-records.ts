// Revisions, audit and traces in SQLite: the rows that are not a map from key to value.
import type { Database } from 'better-sqlite3';
import { CausewayError } from '../lib/errors.ts';
import { type TraceEntry, type TraceLimits, type TraceQuery, traceIndex } from './trace-index.ts';

/** A revision with its body as JSON text. */
export interface RevisionRow {
  readonly rule: string;
  readonly revision: number;
  readonly body: string;
  readonly at: number;
  readonly author: string;
  readonly via: string;
  readonly source: string | null;
}

/** An audit record with its input as JSON text. */
export interface AuditRow {
  readonly at: number;
  readonly principal: string;
  readonly via: string;
  readonly op: string;
  readonly input: string;
  readonly outcome: string;
  readonly code: string | null;
}

/** A trace as JSON text, with what it is found by. */
export interface TraceRow {
  readonly run: string;
  readonly rule: string;
  readonly outcome: string;
  readonly body: string;
}

/** What the audit can be asked; newest first, `before` is epoch ms. */
export interface AuditQuery {
  readonly principal?: string;
  readonly op?: string;
  readonly before?: number;
  readonly limit: number;
}

/** A revision must be the last one's number plus 1. */
export function nextRevision(rule: string, revision: number, last: number | undefined): void {
  const expected = (last ?? 0) + 1;
  if (revision === expected) return;
  throw new CausewayError(
    'REVISION_CONFLICT',
    `revision ${revision} of rule ${rule} cannot follow revision ${expected - 1}`,
    {
      hint: 'Read the rule again and repeat the change on what it is now.',
      details: { rule, last: expected - 1 },
    },
  );
}

/** The revisions of rules. */
export function revisionTable(db: Database) {
  const columns = 'rule, revision, body, at, author, via, source';
  const newest = db.prepare<[string], number>('SELECT max(revision) FROM revisions WHERE rule = ?').pluck();
  const insert = db.prepare(
    `INSERT INTO revisions (${columns}) VALUES (@rule, @revision, @body, @at, @author, @via, @source)`,
  );
  const ofRule = db.prepare<[string, number], RevisionRow>(
    `SELECT ${columns} FROM revisions WHERE rule = ? ORDER BY revision DESC LIMIT ?`,
  );
  const one = db.prepare<[string, number], RevisionRow>(
    `SELECT ${columns} FROM revisions WHERE rule = ? AND revision = ?`,
  );
  const lasts = db.prepare<[], RevisionRow>(
    `SELECT ${columns} FROM revisions JOIN (SELECT rule AS r, max(revision) AS n FROM revisions GROUP BY rule) ON rule = r AND revision = n`,
  );
  return {
    add(row: RevisionRow): void {
      nextRevision(row.rule, row.revision, newest.get(row.rule) ?? undefined);
      insert.run(row);
    },
    of: (rule: string, limit: number) => ofRule.all(rule, limit),
    get: (rule: string, revision: number) => one.get(rule, revision),
    last: () => lasts.all(),
  };
}

/** The audit, which keeps its newest `limit` records. */
export function auditTable(db: Database, limit: number) {
  const insert = db.prepare(
    'INSERT INTO audit (at, principal, via, op, input, outcome, code) VALUES (@at, @principal, @via, @op, @input, @outcome, @code)',
  );
  const prune = db.prepare('DELETE FROM audit WHERE id <= ?');
  const find = db.prepare<[AuditQuery], AuditRow>(
    `SELECT at, principal, via, op, input, outcome, code FROM audit
     WHERE (@principal IS NULL OR principal = @principal) AND (@op IS NULL OR op = @op) AND (@before IS NULL OR at < @before)
     ORDER BY id DESC LIMIT @limit`,
  );
  return {
    add(rows: readonly AuditRow[]): void {
      let last = 0;
      for (const row of rows) last = Number(insert.run(row).lastInsertRowid);
      prune.run(last - limit);
    },
    find: ({ principal, op, before, limit: most }: AuditQuery) => {
      const named = { principal: principal ?? null, op: op ?? null, before: before ?? null, limit: most };
      return find.all(named as unknown as AuditQuery);
    },
  };
}

/** The traces; their index is in memory and filled by `load`, or by the first question. */
export function traceTable(db: Database, limits: TraceLimits) {
  const all = db.prepare<[], Omit<TraceEntry, 'place'> & { id: number }>(
    'SELECT id, run, rule, outcome FROM traces ORDER BY id',
  );
  const put = db.prepare(
    `INSERT INTO traces (id, run, rule, outcome, body) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, body = excluded.body`,
  );
  const remove = db.prepare('DELETE FROM traces WHERE id = ?');
  const body = db.prepare<[number], string>('SELECT body FROM traces WHERE id = ?').pluck();
  let filled: ReturnType<typeof traceIndex> | undefined;

  function index() {
    if (filled) return filled;
    const fresh = traceIndex(limits);
    // Rows past a bound that was lowered go with the next transaction that puts something.
    for (const row of all.all()) surplus.push(...fresh.add(row.run, row.rule, row.outcome, row.id).gone);
    filled = fresh;
    return fresh;
  }
  const surplus: TraceEntry[] = [];
  const SURPLUS_STEP = 200;

  return {
    load(): void {
      index();
    },
    put(rows: readonly TraceRow[]): void {
      const known = index();
      const gone = surplus.splice(0, SURPLUS_STEP);
      for (const row of rows) {
        const filed = known.add(row.run, row.rule, row.outcome);
        put.run(filed.entry.place, row.run, row.rule, row.outcome, row.body);
        gone.push(...filed.gone);
      }
      for (const entry of gone) remove.run(entry.place);
    },
    get(run: string): string | undefined {
      const entry = index().get(run);
      return entry && body.get(entry.place);
    },
    find: (query: TraceQuery): string[] =>
      index()
        .find(query)
        .map(entry => body.get(entry.place))
        .filter(text => text !== undefined),
  };
}
