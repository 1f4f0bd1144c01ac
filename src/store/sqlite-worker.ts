// The store's thread. Writes that arrive while a transaction runs share the next one and its fsync.
import { renameSync } from 'node:fs';
import { yieldToIo } from '../lib/clock.ts';
import type { CausewayError } from '../lib/errors.ts';
import { type Request, sendAnswer, sendError, takeRequests } from '../lib/worker.ts';
import { asStoreError, isDamage } from './database.ts';
import { syncFile } from './migrations.ts';
import { type Damaged, salvage } from './salvage.ts';
import { type CoreOptions, type LoadedTable, openCore, type StoreCore, type Write } from './sqlite-core.ts';
import type { AuditQuery, AuditRow, RevisionRow, TraceRow } from './sqlite-records.ts';
import type { TableName } from './store.ts';
import type { TraceQuery } from './trace-index.ts';

// A commit that arrives meanwhile waits for one such slice at most, about a millisecond.
const TRACE_SLICE = 64;
// Looking after the WAL's length is cheap, but not for every commit.
const TRANSACTIONS_PER_CHECK = 64;

let options: CoreOptions;
let core: StoreCore;
let unchecked = 0;
let backgroundRuns = false;
const waitingTraces: { id: number; rows: readonly TraceRow[]; done: number }[] = [];

const writes = {
  commit: (rows: readonly (string | null)[], full: boolean) => core.commit(rows, full),
  addRevision: (row: RevisionRow) => core.addRevision(row),
  addAudit: (rows: readonly AuditRow[]) => core.addAudit(rows),
  quarantine: (rows: readonly { table: TableName; key: string; error: string }[]) => core.quarantine(rows),
};

const reads = {
  open(given: CoreOptions): void {
    options = given;
    core = openCore(options);
  },
  load(): { tables: LoadedTable[]; damaged: Damaged[] } {
    try {
      return { tables: core.load(), damaged: [] };
    } catch (error) {
      if (!isDamage(error)) throw error;
      core.close();
      const damaged = salvage(options.path);
      core = openCore(options);
      return { tables: core.load(), damaged };
    }
  },
  revisions: (rule: string, limit: number) => core.revisions(rule, limit),
  revision: (rule: string, revision: number) => core.revision(rule, revision),
  lastRevisions: () => core.lastRevisions(),
  audit: (query: AuditQuery) => core.audit(query),
  trace: (run: string) => core.trace(run),
  traces: (query: TraceQuery) => core.traces(query),
  async backup(path: string): Promise<void> {
    await core.backup(`${path}.part`);
    syncFile(`${path}.part`);
    renameSync(`${path}.part`, path);
  },
  close: () => core.close(),
};

/** What the store's worker answers. */
export type StoreAnswers = typeof reads & {
  [K in keyof typeof writes]: (...args: Parameters<(typeof writes)[K]>) => void;
} & { putTraces(rows: readonly TraceRow[]): void };

function reply(id: number, error: CausewayError | undefined): void {
  if (error) sendError(id, error);
  else sendAnswer(id);
}

takeRequests(requests => {
  let group: { id: number; write: Write }[] = [];
  const commitGroup = () => {
    if (group.length === 0) return;
    const outcomes = core.together(group.map(({ write }) => write));
    for (const [index, { id }] of group.entries()) reply(id, outcomes[index]);
    group = [];
    unchecked++;
  };
  for (const request of requests) {
    const { id, name, args } = request;
    if (name in writes) {
      group.push({ id, write: writes[name as keyof typeof writes](...(args as unknown as [never, never])) });
    } else if (name === 'putTraces') {
      waitingTraces.push({ id, rows: args[0] as unknown as readonly TraceRow[], done: 0 });
    } else {
      commitGroup();
      // What was put before is seen by those who read after.
      while (waitingTraces.length > 0) putTraceSlice();
      void read(request);
    }
  }
  commitGroup();
  void background();
});

async function read({ id, name, args }: Request): Promise<void> {
  try {
    sendAnswer(id, await reads[name as keyof typeof reads](...(args as unknown as [never, never])));
  } catch (error) {
    sendError(id, asStoreError(error, options.path));
  }
}

// Traces and check-points give way to commits: one step, then a look into the port.
async function background(): Promise<void> {
  if (backgroundRuns) return;
  backgroundRuns = true;
  while (waitingTraces.length > 0 || unchecked >= TRANSACTIONS_PER_CHECK) {
    await yieldToIo();
    if (waitingTraces.length > 0) putTraceSlice();
    if (unchecked >= TRANSACTIONS_PER_CHECK) {
      unchecked = 0;
      core.checkpoint();
    }
  }
  backgroundRuns = false;
}

function putTraceSlice(): void {
  const slice: TraceRow[] = [];
  const touched = [];
  for (const waiting of waitingTraces) {
    const room = TRACE_SLICE - slice.length;
    if (room === 0) break;
    slice.push(...waiting.rows.slice(waiting.done, waiting.done + room));
    waiting.done += room;
    touched.push(waiting);
  }
  if (slice.length === 0) return;
  const [error] = core.together([core.putTraces(slice)]);
  unchecked++;
  for (const waiting of touched) {
    if (!error && waiting.done < waiting.rows.length) continue;
    waitingTraces.splice(waitingTraces.indexOf(waiting), 1);
    reply(waiting.id, error);
  }
}
