// Runs and their traces: what is recorded of every run and of every refused one.
import type { ErrorJson } from '../lib/errors.ts';
import type { Cause } from './cause.ts';
import type { Json } from './value.ts';

/** How a started run ended (FORMATS §2.7). */
export type RunOutcome =
  | 'completed'
  | 'completed_with_errors'
  | 'failed'
  | 'cancelled'
  | 'replaced'
  | 'timed_out'
  | 'budget_exceeded'
  | 'in_doubt'
  | 'abandoned';

/** Why a trigger started no run (FORMATS §2.17). The first that applies is reported. */
export type Refusal =
  | 'panic'
  | 'suspended'
  | 'authority'
  | 'contradicts'
  | 'while'
  | 'condition'
  | 'unknown'
  | 'guard'
  | 'throttled'
  | 'mode_single'
  | 'overflow';

/** Why a trigger let go of what it held, without a run. */
export type LetGo = 'trigger_edited' | 'disabled' | 'left_state' | 'left_state_while_unavailable' | 'late' | 'removed';

/** true, false, or not known. */
export type Ternary = boolean | null;

/** A condition as it was evaluated. */
export interface ConditionTrace {
  readonly path: string;
  readonly type: string;
  readonly met: Ternary;
  /** What it looked at: `virtual:a/switch` → "on". */
  readonly seen?: Readonly<Record<string, Json>>;
  readonly note?: string;
  readonly conditions?: readonly ConditionTrace[];
}

/** A step as it went. Instants are ISO 8601. */
export interface StepTrace {
  readonly path: string;
  readonly type: string;
  readonly at: string;
  outcome?: string;
  ms?: number;
  device?: string;
  command?: string;
  /** What the command was sent with. */
  args?: Json;
  error?: ErrorJson;
  note?: string;
  /** Effects of one step on several devices, or what it bound. */
  details?: Json;
}

/** What started, or would have started, a run. */
export interface TriggerTrace {
  readonly id: string;
  readonly type: string;
  readonly device?: string;
  readonly attribute?: string;
  readonly value?: Json;
  readonly previous?: Json;
  readonly topic?: string;
  /** Which window was full, by how many or how much. */
  readonly key?: string;
  readonly count?: number;
  readonly sum?: number;
  readonly event?: string;
}

/** The record of a run, of a refused one, or of a trigger that let go. */
export interface Trace {
  /** Id of the run; of a refused one, of its own. */
  readonly run: string;
  readonly rule: string;
  readonly revision: number;
  readonly trigger: string;
  readonly triggerInfo?: TriggerTrace;
  /** ISO 8601, when it was triggered. */
  readonly at: string;
  started?: string;
  ended?: string;
  outcome: RunOutcome | 'running' | 'waiting' | 'refused' | 'let_go' | 'cancelled';
  reason?: Refusal | LetGo | string;
  lateMs?: number;
  condition?: ConditionTrace;
  by?: string;
  cause?: Cause;
  error?: ErrorJson;
  note?: string;
  result?: Json;
  shadow?: boolean;
  steps: StepTrace[];
}
