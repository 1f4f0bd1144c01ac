// What the command line is given by the composition root, and how a verb looks. The rest it does over REST.
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problems.ts';
import type { Simulated } from '../wiring/simulators.ts';
import type { GatewayClient } from './client.ts';

/** What `serve` and `demo` are asked. */
export interface ServeOptions {
  /** config.yaml; the default of the composition root when left out. */
  readonly config?: string;
  /** The demo house, whatever configuration there is. */
  readonly demo?: boolean;
  /** Systems that the demo bridges beside its house, simulated. */
  readonly simulated?: readonly Simulated[];
  /** Where the log goes: stderr when stdout carries MCP. */
  readonly log: 'stdout' | 'stderr';
  /** Stops the gateway. */
  readonly signal: AbortSignal;
  /** It runs; its address, without a path. */
  onReady?(url: string): void;
}

/** What `check` found in the configuration and the rules. */
export interface CheckReport {
  readonly ok: boolean;
  /** Files that were read. */
  readonly files: readonly string[];
  readonly problems: readonly (Problem & { readonly severity: 'error' | 'warning' | 'info' })[];
}

/** What became of the scenarios. */
export interface SimulateReport {
  readonly ok: boolean;
  readonly scenarios: readonly {
    readonly file: string;
    readonly name: string;
    readonly ok: boolean;
    /** One line each. */
    readonly failures: readonly string[];
  }[];
}

/** The parts that work without a running gateway; each throws CausewayError. */
export interface CliParts {
  readonly version: string;
  /** Absolute path of the command itself, for clients that start it. */
  readonly bin: string;
  /** Resolves when the gateway has stopped. */
  serve(options: ServeOptions): Promise<void>;
  check(options: { readonly config?: string; readonly rules?: readonly string[] }): Promise<CheckReport>;
  simulate(files: readonly string[], options: { readonly config?: string }): Promise<SimulateReport>;
  /** @returns the file that was written */
  backup(options: {
    readonly config?: string;
    readonly to?: string;
  }): Promise<{ readonly file: string; readonly bytes: number }>;
  /** @returns what was restored, a line each */
  restore(options: {
    readonly config?: string;
    readonly from: string;
    readonly force: boolean;
  }): Promise<{ readonly restored: readonly string[] }>;
}

/** The process around a verb, replaced in tests. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Folder that relative paths are meant from. */
  readonly cwd: string;
  readonly home: string;
  readonly clock: Clock;
  /** Ctrl-C, or the supervisor that stops us. */
  readonly signal: AbortSignal;
}

/** What a verb works with. */
export interface CliContext {
  readonly parts: CliParts;
  readonly io: CliIo;
  /** The gateway that --url and --token, or the environment, name. */
  gateway(command: Command): GatewayClient;
  /** Prints the JSON with --json, else the text. */
  show(command: Command, value: unknown, text: string): void;
}

/** Adds a verb to the program. */
export type Verb = (program: Command, context: CliContext) => void;

/** How the process ends; scripts rely on these. */
export const EXIT = {
  ok: 0,
  /** A check or a scenario did not pass. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** No gateway answers. */
  unreachable: 3,
  /** The gateway, or the part asked, refused or failed; the message says why. */
  refused: 4,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;

/** Ends a verb with a code after it has said what there is to say. */
export class CliExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}
