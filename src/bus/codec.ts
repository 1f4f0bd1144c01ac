// Envelopes and payloads as text, and back. Each event is encoded once, for the bus and the journal alike.
import { iso } from '../lib/clock.ts';
import { parseJson } from '../lib/json.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';

/** The envelope of an event as JSON text; instants are ISO 8601. */
export const encodeEvent = (event: Event): string => JSON.stringify({ ...event, ts: iso(event.ts) });

/** A payload of an input topic: JSON, or bare text (`ON`, `22.5`, `true`). */
export function decodePayload(payload: string): Json {
  const parsed = parseJson(payload);
  return parsed === undefined ? payload : parsed;
}

/** The cause id that an outsider gave, and the payload without it. */
export function splitCause(payload: Json): { payload: Json; causeId: string | undefined } {
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload) || typeof payload._cause !== 'string') {
    return { payload, causeId: undefined };
  }
  const { _cause, ...rest } = payload;
  return { payload: rest, causeId: _cause as string };
}
