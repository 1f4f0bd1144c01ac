// One evaluation on its way: its scope, the work it may still do, and the fault that ends it.
import type { Scope } from './scope.ts';

/** Bounds of an expression. The first five hold for the text, the others at run time. */
export const LIMITS = {
  /** Characters of the source. */
  source: 4096,
  /** Parts of the syntax tree. */
  nodes: 200,
  depth: 20,
  /** Elements of a list or map literal. */
  literal: 50,
  callArguments: 8,
  /** Elements of a list that a macro runs over, or that an expression makes. */
  items: 1000,
  /** Characters of a text that an expression makes. */
  text: 65_536,
  /** Elements, or 64 characters of text, that one evaluation may touch; what costs more counts for more. */
  work: 100_000,
} as const;

/** Where in the source, in characters: [start, end). */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** The state of one evaluation. Macros do not nest, so one slot holds the variable of the macro that runs. */
export interface Frame {
  readonly scope: Scope;
  /** Work left. */
  left: number;
  item: unknown;
  /** The part that is being applied, for the message of a fault. */
  at: Place;
}

/**
 * Ends an evaluation. `||`, `&&`, `all` and `exists` may do without a part that faults, unless it is fatal. No Error:
 * an unknown value is an everyday thing, and a stack trace costs twenty times the evaluation.
 */
export class Fault {
  readonly message: string;
  readonly fatal: boolean;
  /** Known once a part has caught it that may throw it again later. */
  at: Place | undefined;

  constructor(message: string, fatal = false) {
    this.message = message;
    this.fatal = fatal;
  }
}

/** Takes `units` of work from the evaluation; the fault it ends in is fatal. */
export function spend(frame: Frame, units: number): void {
  frame.left -= units;
  if (frame.left < 0) throw new Fault('the expression touches too much data', true);
}

/** Work of things that take microseconds, in elements. */
export const COST = { call: 4, fault: 10, parse: 200, zone: 200 } as const;

/** Work for `length` characters of text. */
export const spendText = (frame: Frame, length: number): void => spend(frame, length >> 6);

/** A function or method of expressions. A method gets its receiver as first argument. */
export interface Callable {
  /** How it is written; shown where it is called wrongly. */
  readonly usage: string;
  readonly text: string;
  /** CEL signatures beyond those that the library declares, `name(types): type`. */
  readonly signatures?: readonly string[];
  readonly run: (frame: Frame, ...args: unknown[]) => unknown;
}
