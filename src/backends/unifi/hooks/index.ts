// Webhooks of a console: calls that are signed, and those of its Alarm Manager, which signs nothing and is known by a secret
// path. Whoever is let in has one alarm told, once.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { CausewayError } from '../../../lib/errors.ts';
import { type Hook, type HookCall, SIGNED } from '../../../model/hook.ts';
import { createBucket } from '../console/bucket.ts';
import type { UnifiConfig } from '../schema.ts';
import { type Alarm, readAlarm, readSigned, type Told } from './alarm.ts';
import { createSeen } from './seen.ts';

/** What they need. */
export interface HookParts {
  readonly backend: string;
  readonly webhook: NonNullable<UnifiConfig['webhook']>;
  readonly clock: Clock;
  /** Epoch ms by the console's clock; undefined while the backend is not ready. */
  readonly consoleNow: () => number | undefined;
  /** Tells it, and has the console looked at. */
  readonly tell: (alarm: Alarm) => void;
}

/** The same within this time is one. */
const TWICE_MS = 300_000;
/** A signed call that says it is older, or younger, is none of now. */
const REPLAY_MS = 600_000;
const PER_MINUTE = 100;
/** How long an outage lasts is not known; senders that try again do so for some minutes. */
const OFFLINE_RETRY_MS = 30_000;

/** The webhooks of one backend, over all its connections. */
export function createHook({ backend, webhook, clock, consoleNow, tell }: HookParts): Hook {
  const secret = webhook.secret?.reveal();
  const path = webhook.path?.reveal();
  const seen = createSeen(clock);
  // A backend is one site, whatever a caller says.
  const bucket = createBucket(clock, PER_MINUTE, PER_MINUTE);

  const isLetIn = (call: HookCall): boolean =>
    call.path === SIGNED
      ? secret !== undefined && call.method === 'POST' && isSigned(call, secret)
      : path !== undefined && isSame(call.path, path);

  return async call => {
    if (!isLetIn(call)) return undefined;
    const told = call.path === SIGNED ? readSigned(call.body) : await readAlarm(call);
    const now = consoleNow();
    if (now === undefined) {
      throw new CausewayError('BACKEND_OFFLINE', `the console ${backend} cannot be reached now`, {
        hint: 'send it again in a while',
        details: { retryAfterMs: OFFLINE_RETRY_MS },
      });
    }
    // Nothing waits from here on: of two that come at once one is the second.
    const keys = call.path === SIGNED ? keysOfSigned(told, call, now) : keysOfAlarm(told, call);
    if ([...keys.keys()].some(seen.has)) return { status: 200, body: { status: 'duplicate' } };
    if (!bucket.tryTake()) {
      throw new CausewayError('RATE_LIMITED', `more than ${PER_MINUTE} webhooks a minute for one site`, {
        hint: 'narrow what the sender tells',
        details: { retryAfterMs: 60_000 / PER_MINUTE },
      });
    }
    for (const [key, forMs] of keys) seen.add(key, forMs);
    tell(told.alarm);
    return { status: 202, body: { status: 'accepted' } };
  };
}

/** By which a signed call is known again, and for how long. @throws INPUT_INVALID for one that is not of now */
function keysOfSigned({ id, timestamp }: Told, { body }: HookCall, now: number): Map<string, number> {
  const keys = new Map<string, number>();
  if (id !== undefined) keys.set(`signed ${id}`, TWICE_MS);
  if (timestamp === undefined) return keys;
  const at = instantOf(timestamp);
  if (at === undefined || Math.abs(at - now) > REPLAY_MS) {
    const is = at === undefined ? 'is no instant' : `is more than ${REPLAY_MS / 60_000} minutes away from now`;
    throw new CausewayError('INPUT_INVALID', `timestamp: ${String(timestamp).slice(0, 60)} ${is}`, {
      path: 'timestamp',
      hint: 'send epoch seconds or milliseconds, or ISO 8601 (UTC where it names no zone), of now; check the clocks',
    });
  }
  // Who has overheard it can send it again until the timestamp is too old, and no other way.
  return keys.set(`bytes ${digest(body).toString('base64')}`, Math.max(TWICE_MS, at + REPLAY_MS - now));
}

/** By which an alarm is known again. */
function keysOfAlarm({ id, timestamp }: Told, { body }: HookCall): Map<string, number> {
  // An id may be that of the alarm as it was set up, which rings more than once: the timestamp belongs to it.
  if (id !== undefined) return new Map([[`alarm ${JSON.stringify([id, timestamp])}`, TWICE_MS]]);
  if (timestamp === undefined) return new Map();
  return new Map([[`alarm bytes ${digest(body).toString('base64')}`, TWICE_MS]]);
}

const digest = (text: Buffer | string): Buffer => createHash('sha256').update(text).digest();

/** Takes as long for whatever is given. */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));

function isSigned({ headers, body }: HookCall, secret: string): boolean {
  const given = headers['x-unifi-signature']?.trim() ?? '';
  const wanted = createHmac('sha256', secret).update(body).digest();
  const isHex = /^[0-9a-f]{64}$/i.test(given);
  return timingSafeEqual(isHex ? Buffer.from(given, 'hex') : Buffer.alloc(wanted.length), wanted) && isHex;
}

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/i;

/** Epoch ms. */
function instantOf(timestamp: string | number): number | undefined {
  const number = /^\d+(?:\.\d+)?$/.test(String(timestamp)) ? Number(timestamp) : undefined;
  // Seconds of the year 5138 are milliseconds of 1973.
  if (number !== undefined) return number < 1e11 ? number * 1_000 : number;
  const [, date, time, zone = 'Z'] = ISO.exec(String(timestamp)) ?? [];
  const at = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(at) ? undefined : at;
}
