// What a webhook says, read: the documented body of a signed call, and whatever a console's Alarm Manager sends.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import { isForm, readForm } from '../../../lib/form.ts';
import { type Json, parseJson } from '../../../lib/json.ts';
import { check, pathText } from '../../../lib/problems.ts';
import type { HookCall } from '../../../model/hook.ts';
import { dropSecrets } from '../console/answers.ts';

/** The value of the event `alarm`. */
export interface Alarm {
  readonly source: 'signed' | 'alarm_manager';
  /** `category.action` of a signed one; else what the console calls it, or `alarm`. */
  readonly type: string;
  readonly title?: string;
  readonly id?: string;
  /** As the caller names it. */
  readonly site?: string;
  readonly data: Json;
  /** There was more of it. */
  readonly cut?: true;
}

/** A webhook, read. */
export interface Told {
  readonly alarm: Alarm;
  /** Whole, where it has one. */
  readonly id: string | undefined;
  /** As it is written, where there is one. */
  readonly timestamp: string | number | undefined;
}

const LONGEST = { type: 100, title: 300, id: 200, site: 100, text: 300 };
const MOST_BYTES = 4_096;
const MOST_ITEMS = 20;
const DEEPEST = 8;
const MARK = '…';

// --- reading ---------------------------------------------------------------------------------------------------------

const Name = z.union([z.string(), z.number()]).nullish();

const Signed = z.looseObject({
  event_type: z
    .string()
    .regex(/^[\w-]+\.[\w.-]+$/, 'expected category.action, such as device.offline')
    .max(LONGEST.type),
  event_id: Name,
  site_id: Name,
  timestamp: Name,
  data: z.unknown().optional(),
});

/** A signed body. @throws INPUT_INVALID */
export function readSigned(body: Buffer): Told {
  const hint = 'send { event_type: "category.action", event_id?, site_id?, timestamp?, data? } as JSON';
  const json = parseJson(body.toString('utf8'));
  if (json === undefined) throw new CausewayError('INPUT_INVALID', 'the body is no JSON', { hint });
  const read = check(Signed, json);
  if (!read.ok) {
    const [issue] = read.issues;
    const path = pathText(issue?.path ?? []);
    throw new CausewayError('INPUT_INVALID', `${path || 'the body'}: ${issue?.message}`, { hint, path });
  }
  const { event_type: type, event_id: eventId, site_id: site, timestamp, data } = read.value;
  const told = { type, id: textOf(eventId), site: textOf(site), data: (data ?? null) as Json };
  return {
    alarm: alarmOf('signed', told),
    id: told.id,
    timestamp: timestamp === '' ? undefined : (timestamp ?? undefined),
  };
}

/**
 * Whatever an Alarm Manager sends. There is no description of it to hold it to, and people write bodies of their own: what
 * there is for a type, a title and an id is taken, the whole is the data.
 */
export async function readAlarm(call: HookCall): Promise<Told> {
  const body = await bodyOf(call);
  const fields = fieldsOf(body);
  const { query } = call;
  const inner = fieldsOf(fields.alarm);
  const [trigger] = Array.isArray(inner.triggers) ? inner.triggers : [];
  const told = {
    type:
      textOf(fields.event_type, fields.type, fields.key, fields.event, fieldsOf(trigger).key, query.type) ?? 'alarm',
    title: textOf(fields.title, fields.name, inner.name, fields.message, query.title),
    // Never of the query, which stands in the address and is the same each time.
    id: textOf(fields.event_id, fields.id, fields.alarm_id),
    site: textOf(fields.site_id, fields.site),
    data: body ?? (Object.keys(query).length > 0 ? { ...query } : null),
  };
  const { timestamp } = fields;
  return {
    alarm: alarmOf('alarm_manager', told),
    id: told.id,
    timestamp: typeof timestamp === 'string' || typeof timestamp === 'number' ? timestamp : undefined,
  };
}

/** JSON, whatever it calls itself; a form as an object, other text as text, null where there is none. */
async function bodyOf({ body, headers, method }: HookCall): Promise<Json> {
  if (method === 'GET' || body.length === 0) return null;
  const type = headers['content-type'] ?? '';
  const text = body.toString('utf8');
  const json = parseJson(text);
  if (json !== undefined) return json;
  return isForm(type) ? readForm(body, type).catch(() => text) : text;
}

const fieldsOf = (value: Json | undefined): { readonly [key: string]: Json | undefined } =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};

/** The first that says anything. */
const textOf = (...values: readonly unknown[]): string | undefined =>
  values
    .map(value => (typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''))
    .find(text => text !== '');

// --- showing ---------------------------------------------------------------------------------------------------------

interface Raw {
  readonly type: string;
  readonly title?: string | undefined;
  readonly id?: string | undefined;
  readonly site?: string | undefined;
  readonly data: Json;
}

/** As rules see it: without secrets, and no larger than an event should be. */
function alarmOf(source: Alarm['source'], { type, title, id, site, data: raw }: Raw): Alarm {
  const data = shallow(raw, DEEPEST);
  dropSecrets(data);
  const head = {
    source,
    type: clip(type, LONGEST.type),
    ...(title !== undefined && { title: clip(title, LONGEST.title) }),
    ...(id !== undefined && { id: clip(id, LONGEST.id) }),
    ...(site !== undefined && { site: clip(site, LONGEST.site) }),
  };
  const whole: Alarm = { ...head, data };
  if (fits(whole)) return whole;
  const shortened: Alarm = { ...head, data: shorten(data), cut: true };
  if (fits(shortened)) return shortened;
  const text = JSON.stringify(data);
  let length = MOST_BYTES;
  const asText = (): Alarm => ({ ...head, data: clip(text, length), cut: true });
  while (!fits(asText())) length = Math.floor(length * 0.9);
  return asText();
}

const fits = (alarm: Alarm): boolean => Buffer.byteLength(JSON.stringify(alarm)) <= MOST_BYTES;

/** Cut with a mark, and never within a character. */
const clip = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, Math.max(0, most - 1)).replace(/[\ud800-\udbff]$/, '') + MARK;

/** No deeper than anybody looks, so that it overflows nobody who walks through it. */
function shallow(value: Json, levels: number): Json {
  if (value === null || typeof value !== 'object') return value;
  if (levels === 0) return MARK;
  if (Array.isArray(value)) return value.map(item => shallow(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallow(item, levels - 1)]));
}

/** Long texts and lists cut: mostly that is a picture. */
function shorten(value: Json): Json {
  if (typeof value === 'string') return clip(value, LONGEST.text);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const first = value.slice(0, MOST_ITEMS).map(shorten);
    return value.length > MOST_ITEMS ? [...first, MARK] : first;
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item)]));
}
