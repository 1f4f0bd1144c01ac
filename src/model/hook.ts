// Webhooks of bridged systems: who calls has no credential of ours, so the system that is meant lets him in itself.
import type { Json } from './value.ts';

/** A call to `/hooks/<backend>/<path>`, as it came. */
export interface HookCall {
  /** May be a secret: it belongs into no log and no answer. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What the caller is told. */
export interface HookAnswer {
  readonly status: number;
  readonly body: Json;
}

/** Below each backend the path of calls that are signed; every other one is a secret by which its caller is known. */
export const SIGNED = 'signed';

/**
 * Takes a call. Undefined where it is not let in, whatever the reason.
 * @throws INPUT_INVALID, RATE_LIMITED, BACKEND_OFFLINE, with `details.retryAfterMs` where trying again helps; only to
 * callers that are let in
 */
export type Hook = (call: HookCall) => Promise<HookAnswer | undefined>;
