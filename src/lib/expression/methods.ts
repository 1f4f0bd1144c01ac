// The methods of expressions: texts, lists, and the getters of timestamps and durations.
import { DateTime } from 'luxon';
import { type Callable, COST, Fault, type Frame, LIMITS, spend, spendText } from './frame.ts';
import { asInt, asText, isDuration, isFields, isList, isTimestamp, kindOf, payItems, payText } from './values.ts';

/** Characters of a text, elements of a list or map. */
export function sizeOf(frame: Frame, value: unknown): number {
  if (isList(value)) return value.length;
  if (isFields(value)) return Object.keys(value).length;
  const text = onText(frame, value);
  let count = text.length;
  // Beyond the basic plane a character is two units, the second of which is recognised by its range.
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** An instant as it is read in a zone; a fault when there is no such zone. */
export function zoned(frame: Frame, ms: number, zone: string): DateTime {
  spend(frame, COST.zone);
  const moment = DateTime.fromMillis(ms, { zone });
  if (moment.isValid) return moment;
  throw new Fault(`there is no time zone "${zone}"`);
}

/** Runs a search over the text after paying for it. */
const onText = (frame: Frame, value: unknown): string => {
  const text = asText(value);
  spendText(frame, text.length);
  return text;
};

function part(frame: Frame, value: unknown, from: unknown, to: unknown): string {
  const text = onText(frame, value);
  const start = asInt(from);
  const end = to === undefined ? text.length : asInt(to);
  if (start >= 0 && end >= start && end <= text.length) return text.slice(start, end);
  throw new Fault(`no part ${start} to ${end}: the text has ${text.length} characters`);
}

function split(frame: Frame, value: unknown, separator: unknown, limit: unknown): string[] {
  const text = onText(frame, value);
  const by = asText(separator);
  const most = limit === undefined ? -1 : asInt(limit);
  if (most === 0) return [];
  // One more than may be made is enough to see that there are too many.
  const parts = text.split(by, LIMITS.items + 1);
  payItems(frame, parts.length);
  return most < 0 || parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join(by)];
}

function join(frame: Frame, value: unknown, separator: unknown = ''): string {
  if (!isList(value)) throw new Fault(`${kindOf(value)} cannot be joined`);
  payItems(frame, value.length);
  const parts = value.map(asText);
  const between = asText(separator);
  payText(
    frame,
    parts.reduce((sum, item) => sum + item.length + between.length, 0),
  );
  return parts.join(between);
}

// The library's own getters read the zone of the process, which is another one on another machine.
const OF_TIMESTAMP: Readonly<Record<string, (moment: DateTime) => number>> = {
  getFullYear: moment => moment.year,
  getMonth: moment => moment.month - 1,
  getDate: moment => moment.day,
  getDayOfMonth: moment => moment.day - 1,
  getDayOfWeek: moment => moment.weekday % 7,
  getHours: moment => moment.hour,
  getMinutes: moment => moment.minute,
  getSeconds: moment => moment.second,
};

const OF_DURATION: Readonly<Record<string, number>> = {
  getHours: 3_600_000,
  getMinutes: 60_000,
  getSeconds: 1000,
  getMilliseconds: 1,
};

/** Why a getter of a timestamp needs its zone. */
export const ZONE_WANTED =
  'CEL counts in UTC here: name a zone, getHours("Europe/Berlin"), or use hour(now) for the rule’s';

function getters(): Record<string, Callable> {
  const entry = (name: string): Callable => ({
    usage: OF_TIMESTAMP[name] ? `timestamp.${name}("Europe/Berlin")` : `duration.${name}()`,
    text: `as in CEL${OF_TIMESTAMP[name] ? ', with a zone' : ''}${OF_DURATION[name] ? '; of a duration the whole length, without a zone' : ''}`,
    run: (frame, value, zone) => {
      const unit = OF_DURATION[name];
      if (isDuration(value) && unit && zone === undefined) return Math.trunc(value.ms / unit) || 0;
      const read = OF_TIMESTAMP[name];
      if (!isTimestamp(value) || !read) throw new Fault(`${kindOf(value)} has no ${name}()`);
      if (zone === undefined) throw new Fault(ZONE_WANTED);
      return read(zoned(frame, value.ms, asText(zone)));
    },
  });
  const names = new Set([...Object.keys(OF_TIMESTAMP), ...Object.keys(OF_DURATION)]);
  return Object.fromEntries([...names].map(name => [name, entry(name)]));
}

const TABLE: Readonly<Record<string, Callable>> = {
  contains: {
    usage: 'text.contains(part)',
    text: 'whether the part occurs in the text',
    run: (frame, text, other) => onText(frame, text).includes(asText(other)),
  },
  startsWith: {
    usage: 'text.startsWith(part)',
    text: 'whether the text begins so',
    run: (frame, text, other) => onText(frame, text).startsWith(asText(other)),
  },
  endsWith: {
    usage: 'text.endsWith(part)',
    text: 'whether the text ends so',
    run: (frame, text, other) => onText(frame, text).endsWith(asText(other)),
  },
  indexOf: {
    usage: 'text.indexOf(part)',
    text: 'where the part first occurs, -1 if it does not',
    run: (frame, text, other, from) => onText(frame, text).indexOf(asText(other), from === undefined ? 0 : asInt(from)),
  },
  substring: {
    usage: 'text.substring(from, to)',
    text: 'the characters from the first index to before the second',
    run: part,
  },
  lowerAscii: {
    usage: 'text.lowerAscii()',
    text: 'in small letters',
    run: (frame, text) => onText(frame, text).toLowerCase(),
  },
  upperAscii: {
    usage: 'text.upperAscii()',
    text: 'in capitals',
    run: (frame, text) => onText(frame, text).toUpperCase(),
  },
  trim: {
    usage: 'text.trim()',
    text: 'without white space around it',
    run: (frame, text) => onText(frame, text).trim(),
  },
  size: { usage: 'x.size()', text: 'as size(x)', run: sizeOf },
  split: { usage: 'text.split(separator)', text: 'the list of parts', run: split },
  join: { usage: 'list.join(separator)', text: 'the texts of a list as one', run: join },
  ...getters(),
};

/** Method name → what it does. */
export const METHODS: ReadonlyMap<string, Callable> = new Map(Object.entries(TABLE));
