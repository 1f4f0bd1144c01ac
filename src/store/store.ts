// The store's port: what must survive. The engine loads it once, then only commits; it never reads while running.
import type { Trace } from '../model/run.ts';
import type { Json } from '../model/value.ts';

/**
 * Tables of the gateway's own records, each a map from key to a JSON value.
 * memory: what triggers remember (holds, schedules, windows) · runs: waiting runs with their position · outbox: commands and
 * effects on their way · variables: values of house and rule variables · modes: the house's mode · state: last known values ·
 * topics: last payloads of outside topics that rules look at ·
 * rules: runtime side of rules (override, suspension, counts) · devices: the last known declarations of devices · virtual:
 * devices made by users · scenes: captured scenes · principals: users and tokens · meta: odds and ends.
 */
export const TABLES = [
  'runs',
  'outbox',
  'memory',
  'variables',
  'modes',
  'state',
  'rules',
  'devices',
  'topics',
  'virtual',
  'scenes',
  'principals',
  'meta',
] as const;
/** A name of `TABLES`. */
export type TableName = (typeof TABLES)[number];

/** All rows of all tables, as they were loaded. */
export type Tables = Record<TableName, Map<string, Json>>;

/** Puts a value at a key, or removes the key (`value: undefined`). */
export interface Change {
  readonly table: TableName;
  readonly key: string;
  readonly value: unknown;
}

/** A saved revision of a rule. */
export interface Revision {
  readonly rule: string;
  /** From 1. */
  readonly revision: number;
  /** The rule as JSON; null where it was deleted. */
  readonly body: Json;
  /** Epoch ms. */
  readonly at: number;
  /** Name of the principal, or `file`. */
  readonly author: string;
  /** mcp, rest, cli, file … */
  readonly via: string;
  /** The digest of the file's text in which the body stood: the same text is the same body, and need not be parsed. */
  readonly source?: string;
}

/** One line of the audit: who did what through which view, and how it ended. */
export interface AuditRecord {
  readonly at: number;
  readonly principal: string;
  readonly via: string;
  readonly op: string;
  readonly input: Json;
  readonly outcome: 'ok' | 'denied' | 'failed';
  readonly code?: string;
}

/** Everything that must survive. Implementations: SQLite (in a worker), memory (simulation). */
export interface Store {
  /** All rows of all tables. Rows that cannot be read are left out, kept in `corrupt`, and never stop the start. */
  load(): Promise<{
    tables: Tables;
    corrupt: { table: string; key: string; error: string }[];
  }>;
  /**
   * One transaction. `full`: on the disk when the promise resolves (SQLite synchronous=FULL). `lazy`: survives a killed process,
   * and a power cut but for the last moments. Rejects with DATA_UNWRITABLE when the disk is full or gone; nothing of the
   * transaction is then stored and it may be tried again.
   */
  commit(changes: readonly Change[], durability: 'full' | 'lazy'): Promise<void>;

  /** Appends a revision; its number must be the last one's plus 1 (REVISION_CONFLICT otherwise). Full durability. */
  addRevision(revision: Revision): Promise<void>;
  /** Revisions of a rule, newest first. */
  revisions(rule: string, limit?: number): Promise<Revision[]>;
  revision(rule: string, revision: number): Promise<Revision | undefined>;
  /** The newest revision of every rule. */
  lastRevisions(): Promise<Revision[]>;

  /** Adds or replaces the trace of a run (by its run id); keeps the newest `perRule` of each rule. Lazy durability. */
  putTraces(traces: readonly Trace[]): Promise<void>;
  trace(run: string): Promise<Trace | undefined>;
  /** Newest first. `before` is a run id (ULIDs sort by time). */
  traces(query: { rule?: string; outcome?: string; before?: string; limit: number }): Promise<Trace[]>;

  addAudit(records: readonly AuditRecord[]): Promise<void>;
  audit(query: { principal?: string; op?: string; before?: number; limit: number }): Promise<AuditRecord[]>;

  /** A consistent copy of the database at `path`, while it goes on. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
