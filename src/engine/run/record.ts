// A run as it is stored: its position is a small serialisable value, so that it goes on after a crash.
import type { ErrorJson } from '../../lib/errors.ts';
import type { Cause } from '../../model/cause.ts';
import type { ConditionTrace, RunOutcome, StepTrace } from '../../model/run.ts';
import type { Json } from '../../model/value.ts';
import type { StepConfig, TriggerData } from '../kind.ts';

/** Where a thread is in one list of steps. */
export interface Frame {
  /** Path of the list: `actions`, `actions/1/then`. */
  list: string;
  /** Index of the present step. */
  i: number;
  /** What the present step keeps while it waits or its children run; absent until it has started. */
  step?: {
    state: Json;
    trace: number;
    attempt: number;
    /** Of an attempt after the first. */
    attemptBegan?: number;
    began: number;
    /** It listens while steps inside it run. */
    listens?: boolean;
    /** What the trigger that it waits for remembers: a hold, a window, a sequence in part. */
    memory?: Record<string, Json>;
    /** Steps inside have to end by then (engine time). */
    limit?: number;
    /** The present round of a `repeat`. */
    repeat?: { index: number; item?: Json };
  };
  /** The list is an `on_error` of the step below. */
  isErrorPath?: boolean;
  repeat?: { index: number; item?: Json };
}

/** What a thread waits for. Instants are engine time. */
export interface Wait {
  due?: number;
  /** `due` is the step's timeout. */
  isLimit?: boolean;
  answers?: string[];
  name?: string;
  /** Waiting to try a failed step again. */
  retry?: boolean;
  /** Its branches run. */
  join?: boolean;
  since: number;
}

/** One strand of a run; only `parallel` makes more than one. */
export interface Thread {
  id: number;
  frames: Frame[];
  parent?: number;
  wait?: Wait;
  /** Variables of a branch: a copy of the run's at the fork. */
  vars?: Record<string, Json>;
  /** Of a branch: what `as` has bound before the fork and in it. */
  bindings?: Record<string, Json>;
  /** Which variables the branch has set. */
  set?: string[];
  outputs?: string[];
}

/** A run. Instants are engine time. */
export interface RunRecord {
  id: string;
  rule: string;
  revision: number;
  status: 'running' | 'queued';
  key: string;
  trigger: TriggerData;
  /** Of what started it. */
  cause: Cause;
  /** Of what it does. */
  out: Cause;
  args: Record<string, Json>;
  triggeredAt: number;
  startedAt?: number;
  deadline?: number;
  lateMs: number;
  shadow: boolean;
  condition?: ConditionTrace;
  threads: Thread[];
  nextThread: number;
  vars: Record<string, Json>;
  bindings: Record<string, Json>;
  steps: StepTrace[];
  stepCount: number;
  errors: number;
  /** The answer id of a `call_rule` that waits for it. */
  caller?: string;
}

/** The steps of a rule by the path of their list. */
export type Body = ReadonlyMap<string, readonly StepConfig[]>;

/** How a run ended, before `finally`. */
export interface Ending {
  outcome: RunOutcome;
  reason?: string;
  error?: ErrorJson;
  result?: Json;
}

/** What the step that a thread stands at keeps. */
export const stateOf = (thread: Thread): Json => thread.frames.at(-1)?.step?.state ?? null;
