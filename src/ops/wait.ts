// Waiting for devices to be something: told by events, not asked again and again.
import type { Subscription } from 'rxjs';
import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import { jsonEqual } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';
import { DeviceRef } from '../model/device.ts';
import type { Event } from '../model/event.ts';
import { coerce, type Json, type ValueType } from '../model/value.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

const COMPARATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'between'] as const;
type Comparator = (typeof COMPARATORS)[number];

const LONGEST_MS = 60_000;

type Seen = Pick<Event, 'value' | 'quality'>;

const input = z.strictObject({
  devices: z.array(DeviceRef).min(1).max(50).meta({ description: 'Ids or aliases' }),
  attribute: z.string().min(1),
  comparator: z.enum(COMPARATORS).optional().meta({ description: 'eq by default; between includes its ends' }),
  value: z.json().meta({ description: 'What it is compared with; for eq and ne also a list, for between [low, high]' }),
  match: z
    .enum(['all', 'any'])
    .optional()
    .meta({ description: 'all (default): when each device fits; any: when one does' }),
  stable_for: z.string().optional().meta({ description: 'It must stay so for this long (`2s`), less than timeout' }),
  timeout: z.string().optional().meta({ description: '10s by default, at most 60s' }),
});

/** A number, also one that is written as text. */
const numberOf = (value: Json): number | undefined => {
  const coerced = value === null ? undefined : coerce(value, { type: 'number' });
  return coerced?.ok ? (coerced.value as number) : undefined;
};

/** Whether a value fits; undefined where it is none that can be compared so. @throws INPUT_INVALID */
function comparison(comparator: Comparator, wanted: Json): (value: Json) => boolean | undefined {
  const numbers = (Array.isArray(wanted) ? wanted : [wanted]).map(one => numberOf(one) ?? Number.NaN);
  const isNumeric = comparator !== 'eq' && comparator !== 'ne';
  const count = comparator === 'between' ? 2 : 1;
  if (isNumeric && (numbers.length !== count || numbers.some(Number.isNaN))) {
    throw new CausewayError('INPUT_INVALID', `${comparator} wants ${count === 2 ? '[low, high]' : 'a number'}`, {
      path: 'value',
    });
  }
  const [low = 0, high = 0] = numbers;
  if (comparator === 'between' && low > high) {
    throw new CausewayError('INPUT_INVALID', `nothing is between ${low} and ${high}`, {
      path: 'value',
      hint: `write [${high}, ${low}]`,
    });
  }
  const isOneOf = (value: Json) =>
    (Array.isArray(wanted) ? wanted : [wanted]).some(
      one => jsonEqual(one, value) || (typeof value === 'number' && typeof one === 'string' && Number(one) === value),
    );
  const number = (fits: (n: number) => boolean) => (value: Json) => {
    const n = numberOf(value);
    return n === undefined ? undefined : fits(n);
  };
  return {
    eq: isOneOf,
    ne: (value: Json) => !isOneOf(value),
    gt: number(n => n > low),
    ge: number(n => n >= low),
    lt: number(n => n < low),
    le: number(n => n <= low),
    between: number(n => n >= low && n <= high),
  }[comparator];
}

/** The values as the attributes write them: `ON` is `on`. @throws VALUE_INVALID for a word that none of them ever is */
function asWritten(wanted: Json, types: readonly ValueType[]): Json {
  if (types.some(({ type }) => type !== 'enum')) return wanted;
  const one = (value: Json): Json => {
    for (const type of types) {
      const fitted = coerce(value, type);
      if (fitted.ok) return fitted.value;
    }
    const known = [...new Set(types.flatMap(({ values = [] }) => values))];
    throw new CausewayError('VALUE_INVALID', `${JSON.stringify(value)} is no value of this attribute`, {
      path: 'value',
      hint: didYouMean(String(value), known),
    });
  };
  return Array.isArray(wanted) ? wanted.map(one) : one(wanted);
}

/** A time to wait, up to the longest that is allowed. @throws INPUT_INVALID */
export const spanOf = (text: string | undefined, path: string, most: number): number | undefined => {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= most) return ms;
  throw new CausewayError('INPUT_INVALID', `"${text}" is no duration up to ${most / 1_000} s`, {
    path,
    hint: 'write 500ms or 5s',
  });
};

const waitForState = defineOp({
  name: 'wait_for_state',
  title: 'Wait until devices are something',
  description:
    'Waits until an attribute of one or several devices is equal to, above, below or between values, or has stayed so for a while. Answers at once where it is so already; after the timeout with what they are. Use it after a command instead of asking again and again.',
  input,
  output: z.looseObject({
    met: z.boolean(),
    devices: z.array(z.looseObject({ device: z.string(), met: z.boolean() })),
  }),
  effect: 'read',
  scope: 'read',
  route: ['POST', '/devices/wait'],
  listed: false,
  async run(gateway: Gateway, { attribute, comparator = 'eq', match = 'all', ...asked }, { signal }) {
    const { clock, engine, recent } = gateway;
    const { devices, values } = engine.core;
    const timeout = spanOf(asked.timeout, 'timeout', LONGEST_MS) ?? 10_000;
    const stableFor = spanOf(asked.stable_for, 'stable_for', timeout - 1) ?? 0;
    const asking = [...new Set(asked.devices.map(ref => devices.require(ref)))];
    const types = asking.map(device => {
      const type = Object.hasOwn(device.attributes, attribute) ? device.attributes[attribute] : undefined;
      if (type) return type;
      throw new CausewayError('NOT_FOUND', `${device.id} has no attribute "${attribute}"`, {
        path: 'attribute',
        hint: didYouMean(attribute, Object.keys(device.attributes)),
      });
    });
    const ids = asking.map(({ id }) => id);
    const isEqual = comparator === 'eq' || comparator === 'ne';
    const wanted = asked.value as Json;
    const fits = comparison(comparator, isEqual ? asWritten(wanted, types) : wanted);
    // Those that were comparable once are not told as numberless at the end.
    const comparable = new Set<string>();
    // By the events, one after the other: the present may have moved on by the time an event is told.
    const latest = new Map(ids.map(id => [id, values.get(id, attribute)] as [string, Seen | undefined]));
    const seen = () =>
      ids.map(id => {
        const reading = latest.get(id);
        const isKnown = reading?.quality === 'good' && devices.availability(id) === 'online';
        const value = isKnown ? reading.value : null;
        const met = isKnown ? fits(reading.value) : false;
        if (met !== undefined) comparable.add(id);
        return { device: id, value, met: met === true, isKnown };
      });
    const isMet = () => {
      const now = seen();
      return match === 'all' ? now.every(({ met }) => met) : now.some(({ met }) => met);
    };
    const began = clock.elapsed();
    const met = await new Promise<boolean>(resolve => {
      let subscription: Subscription | undefined;
      let cancelStable: (() => void) | undefined;
      const end = (outcome: boolean) => {
        subscription?.unsubscribe();
        cancelTimeout();
        cancelStable?.();
        signal.removeEventListener('abort', aborted);
        resolve(outcome);
      };
      const aborted = () => end(false);
      const cancelTimeout = clock.after(timeout, () => end(false));
      const look = () => {
        if (!isMet()) {
          cancelStable?.();
          cancelStable = undefined;
        } else if (stableFor === 0) end(true);
        else cancelStable ??= clock.after(stableFor, () => end(true));
      };
      signal.addEventListener('abort', aborted, { once: true });
      subscription = recent.events$.subscribe(({ device, attribute: told, value, quality }) => {
        if (!latest.has(device) || (told !== attribute && told !== '$availability')) return;
        if (told === attribute) latest.set(device, { value, quality });
        look();
      });
      look();
    });
    const now = seen();
    const list = (rows: typeof now) => rows.map(({ device }) => device);
    const numberless = list(now.filter(({ device, isKnown }) => isKnown && !comparable.has(device)));
    const silent = list(now.filter(({ isKnown }) => !isKnown));
    return {
      met,
      ...(!met && { timed_out: true }),
      waited_ms: Math.round(clock.elapsed() - began),
      met_count: now.filter(one => one.met).length,
      devices: now.map(({ isKnown: _, ...row }) => row),
      ...(numberless.length > 0 && { non_numeric: numberless }),
      ...(silent.length > 0 && { unknown: silent }),
    };
  },
});

/** Waiting for devices. */
export const waitOps = [waitForState];
