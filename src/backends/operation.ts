// What only one type of system can do: its own operations, and resources to look at. `src/ops/systems.ts` makes them those
// of the gateway.
import type { z } from 'zod';
import type { Json } from '../model/value.ts';
import type { Scope } from '../policy/roles.ts';
import type { Journal } from '../store/journal-port.ts';
import type { Supervised } from './supervisor.ts';

/** What a call is given beside its input. */
export interface OperationContext {
  /** Check everything, change nothing, answer what would happen. Never set for reads. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** What the gateway itself has written down of the system’s devices. */
  readonly journal: Pick<Journal, 'query' | 'read'>;
  /** Epoch ms. */
  readonly now: number;
  /**
   * Sends a command to one of the system's devices, by the way of all commands and in the name of the caller; with `dryRun` it
   * is looked at alone. @throws as the gate and the system
   */
  send(wanted: { device: string; command: string; args: Record<string, Json> }): Promise<{
    readonly outcome: string;
    readonly args: Record<string, Json>;
    /** When it ends by itself, ISO 8601; absent: it lasts. */
    readonly ends_at?: Json;
  }>;
}

/** An operation on one system of the type `B`. Its fields mean what they mean in `Op` (src/ops/op.ts). */
export interface BackendOperation<
  B extends Supervised = Supervised,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> {
  /** `verb_<type>_noun`: the name says which system it is of. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /**
   * A flat strict object. Which system is meant is asked beside it, as `backend`, and where it cannot be undone, `confirm`.
   * What is called `device` or `client` may be an alias to the caller, and is an id here.
   */
  readonly input: I;
  readonly output: O;
  readonly effect: 'read' | 'write' | 'destructive';
  readonly scope: Scope;
  readonly idempotent?: boolean;
  /** Refused unless the newest backup that the system keeps of itself is younger than a day. */
  readonly wantsBackup?: boolean;
  /** The end of its REST route, below `/<type>/`; GET for reads, else POST. */
  readonly path: string;
  run(backend: B, input: z.output<I>, context: OperationContext): Promise<z.input<O>>;
}

/** Types an operation by its system and schemas, for the table of its kind. */
export const defineOperation = <B extends Supervised, I extends z.ZodObject, O extends z.ZodObject>(
  operation: BackendOperation<B, I, O>,
): BackendOperation => operation as unknown as BackendOperation;

/** A thing of one system of the type `B` that clients can read and subscribe to. */
export interface BackendResource<B extends Supervised = Supervised> {
  /** `<scheme>://{part}`; a part may be a pattern, where `read` and `watch` take one. */
  readonly template: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The content as JSON. Parts are percent-decoded. @throws NOT_FOUND where this system has none of it, and the like */
  read(backend: B, parts: Readonly<Record<string, string>>): Promise<unknown>;
  /** Calls `tell` at each change, while somebody is subscribed; what it returns ends that. */
  watch(backend: B, parts: Readonly<Record<string, string>>, tell: () => void): () => void;
}

/** Types a resource by its system, for the table of its kind. */
export const defineResource = <B extends Supervised>(resource: BackendResource<B>): BackendResource =>
  resource as unknown as BackendResource;
