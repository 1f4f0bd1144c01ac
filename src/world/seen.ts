// What a world has seen: everything that expectations can look for, each with its moment (elapsed ms from the start).
import type { GuardNotice } from '../engine/guard.ts';
import type { OutgoingEffect } from '../engine/kind.ts';
import type { Cause } from '../model/cause.ts';
import type { Command } from '../model/command.ts';
import type { Finding } from '../model/finding.ts';
import type { Trace } from '../model/run.ts';

/** One thing that was seen. `at` is elapsed ms; `fields` are what a matcher compares. */
export interface Sight {
  readonly at: number;
  readonly fields: Record<string, unknown>;
}

/** A trace with the moments of its run. */
export interface SeenTrace {
  readonly trace: Trace;
  /** When the trigger fired, the run started and ended. */
  readonly at: number;
  readonly started: number;
  ended: number | undefined;
}

/** A save with what came of it. */
export interface SeenSave {
  readonly at: number;
  readonly id: string;
  readonly outcome: 'accepted' | 'rejected';
  readonly code: string | undefined;
  /** Paths of all that is wrong. */
  readonly paths: readonly string[];
  readonly message: string | undefined;
  readonly findings: readonly Finding[];
}

const ruleOf = (cause: Cause): string | undefined => (cause.by.startsWith('rule:') ? cause.by.slice(5) : undefined);

/** The record. */
export class Seen {
  readonly runs: Sight[] = [];
  readonly commands: Sight[] = [];
  readonly notifies: Sight[] = [];
  readonly publishes: Sight[] = [];
  readonly https: Sight[] = [];
  readonly logs: Sight[] = [];
  readonly guards: Sight[] = [];
  readonly findings: Sight[] = [];
  readonly saves: SeenSave[] = [];
  /** The newest trace of each run, in the order in which they were triggered. */
  readonly traces = new Map<string, SeenTrace>();
  /** What could not be done as the timeline asked: shown where an expectation does not hold. */
  readonly notes: string[] = [];
  private readonly byCommand = new Map<string, Record<string, unknown>>();

  command(at: number, command: Command): void {
    const { id, device, command: name, args, cause } = command;
    const rule = ruleOf(cause);
    const fields = { device, command: name, args, by: cause.by, ...(rule !== undefined && { rule }) };
    this.byCommand.set(id, fields);
    this.commands.push({ at, fields });
  }

  /** How the last attempt of a command ended. */
  result(id: string, outcome: string, error: string | undefined): void {
    const fields = this.byCommand.get(id);
    if (fields) Object.assign(fields, { outcome, ...(error !== undefined && { error }) });
  }

  effect(at: number, effect: OutgoingEffect, cause: Cause): void {
    const rule = ruleOf(cause);
    const { type, ...rest } = effect;
    const fields: Record<string, unknown> = { ...rest, ...(rule !== undefined && { rule }) };
    if (type === 'notify') this.notifies.push({ at, fields });
    else if (type === 'publish') this.publishes.push({ at, fields });
    else this.https.push({ at, fields });
  }

  guard(at: number, { rule, reason, suspended, message }: GuardNotice): void {
    this.guards.push({ at, fields: { rule, reason, suspended, message } });
  }

  finding(at: number, rule: string, finding: Finding): void {
    this.findings.push({ at, fields: { rule, ...finding } });
  }

  log(at: number, line: { rule: string; run: string; level: string; message: string }): void {
    this.logs.push({ at, fields: { ...line } });
  }

  /** A run has started. */
  run(at: number, rule: string, trigger: { id: string } | undefined, by: string | undefined): void {
    this.runs.push({ at, fields: { rule, ...(trigger && { trigger: trigger.id }), ...(by !== undefined && { by }) } });
  }

  /** @param elapsed converts the ISO stamps of the trace */
  trace(trace: Trace, elapsed: (iso: string) => number): void {
    const at = elapsed(trace.at);
    this.traces.set(trace.run, {
      trace,
      at,
      started: trace.started === undefined ? at : elapsed(trace.started),
      ended: trace.ended === undefined ? undefined : elapsed(trace.ended),
    });
  }
}
