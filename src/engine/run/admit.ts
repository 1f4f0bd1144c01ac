// Run modes as a pure function on the table of live runs (FORMATS §2.10).
import type { Refusal } from '../../model/run.ts';

/** A live run, as far as run modes look at it. */
export interface LiveRun {
  readonly id: string;
  readonly key: string;
  readonly status: 'running' | 'queued';
}

/** The mode of a rule, defaults filled in. */
export interface Mode {
  readonly type: 'single' | 'restart' | 'queued' | 'parallel';
  readonly max: number;
  readonly overflow: 'drop_newest' | 'drop_oldest' | 'coalesce';
}

/** What becomes of a start. */
export type Admission =
  | { do: 'start' }
  | { do: 'refuse'; reason: Extract<Refusal, 'mode_single' | 'overflow'> }
  /** These end as `replaced`, then it starts. */
  | { do: 'replace'; runs: string[] }
  /** It waits; `drop` is a waiting one that makes room and is refused for `overflow`. */
  | { do: 'queue'; drop?: string };

/** @param live all live runs of the rule, oldest first */
export function admit(live: readonly LiveRun[], key: string, mode: Mode): Admission {
  const mine = live.filter(run => run.key === key);
  if (mine.length === 0) return { do: 'start' };
  switch (mode.type) {
    case 'single':
      return { do: 'refuse', reason: 'mode_single' };
    case 'restart':
      return { do: 'replace', runs: mine.map(run => run.id) };
    case 'parallel': {
      if (mine.length < mode.max) return { do: 'start' };
      const oldest = mine[0] as LiveRun;
      return mode.overflow === 'drop_oldest'
        ? { do: 'replace', runs: [oldest.id] }
        : { do: 'refuse', reason: 'overflow' };
    }
    case 'queued': {
      // Where none runs, one that waited before is about to.
      if (mine.length < mode.max) return { do: 'queue' };
      const waiting = mine.filter(run => run.status === 'queued');
      const drop =
        mode.overflow === 'coalesce' ? waiting.at(-1) : mode.overflow === 'drop_oldest' ? waiting[0] : undefined;
      return drop ? { do: 'queue', drop: drop.id } : { do: 'refuse', reason: 'overflow' };
    }
  }
}
