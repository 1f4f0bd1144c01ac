// Objects and states of ioBroker as they come, made uniform. Every row is read by itself, so that an odd one costs no
// other. Fields and their legacy forms: reference of the object schema, and what adapters write.
import { z } from 'zod';
import type { Json } from '../../lib/json.ts';
import type { Counters } from './counters.ts';

/** The object of a state. */
export interface StateObject {
  readonly id: string;
  readonly name: string;
  /** boolean, number, string, array, object, mixed, json … */
  readonly type: string;
  readonly role: string;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly read: boolean;
  /** Undefined: not told. */
  readonly write?: boolean;
  /** Value → what it is called; the only values that there are. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The state that it reads, where it is an alias. */
  readonly alias?: string;
}

/** A channel, device or folder. */
export interface Branch {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
}

/** A room or function. */
export interface Enum {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
}

/** An adapter's instance. */
export interface Instance {
  /** `hue.0`. */
  readonly id: string;
  readonly enabled: boolean;
  /** daemon, schedule, once, none … */
  readonly mode: string;
  readonly title: string;
  readonly version: string;
}

/** A state. */
export interface IobState {
  readonly val: Json;
  readonly ack: boolean;
  /** Epoch ms. */
  readonly ts: number;
  readonly q: number;
  /** Who wrote it: `system.adapter.hue.0`. */
  readonly from: string;
}

const Num = z
  .preprocess(
    raw => (typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw),
    z.number().optional().catch(undefined),
  )
  .optional();
const Text = z.string().optional().catch(undefined);
const Flag = z.boolean().optional().catch(undefined);
const Names = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .optional()
  .catch(undefined);

// Not copied: there are tens of thousands of them.
const Whole = z.custom<object>(raw => typeof raw === 'object' && raw !== null && !Array.isArray(raw));
const Row = z.object({ _id: z.string().min(1), type: z.string(), common: Whole });
const StateCommon = z.object({
  name: Names,
  type: Text,
  role: Text,
  unit: Text,
  min: Num,
  max: Num,
  step: Num,
  read: Flag,
  write: Flag,
  states: z.unknown().optional(),
  alias: z
    .object({ id: z.union([z.string(), z.object({ read: z.string() }).transform(({ read }) => read)]) })
    .optional()
    .catch(undefined),
});
const EnumCommon = z.object({ name: Names, members: z.array(z.unknown()).optional().catch(undefined) });
const InstanceCommon = z.object({
  enabled: Flag,
  mode: Text,
  version: Text,
  titleLang: Names,
  title: Names,
  name: Names,
});
const State = z.object({
  // It was JSON.
  val: z.custom<Json>(raw => raw !== undefined).catch(null),
  ack: z.boolean().catch(false),
  ts: z.number().catch(0),
  q: z.number().catch(0),
  from: z.string().catch(''),
});

/** An object of any type, as far as all have it. */
export interface Anything {
  readonly id: string;
  readonly type: string;
  readonly common: object;
}

/** Reads an object; counted and undefined when it is none. */
export function readObject(raw: unknown, counters: Counters): Anything | undefined {
  const parsed = Row.safeParse(raw);
  if (parsed.success) return { id: parsed.data._id, type: parsed.data.type, common: parsed.data.common };
  counters.unreadable++;
  return undefined;
}

/** A name in a language, in English, in any; empty where there is none. */
export function nameIn(names: string | Record<string, unknown> | undefined, language: string): string {
  if (typeof names !== 'object') return names ?? '';
  const found = [names[language], names.en, ...Object.values(names)].find(name => typeof name === 'string' && name);
  return typeof found === 'string' ? found : '';
}

/** The object of a state. */
export function stateObject({ id, common }: Anything, language: string): StateObject {
  const {
    name,
    type = 'mixed',
    role = '',
    unit,
    min,
    max,
    step,
    read = true,
    write,
    states,
    alias,
  } = StateCommon.parse(common);
  const labels = labelsOf(states, type);
  return {
    id,
    name: nameIn(name, language),
    type,
    role,
    ...(unit && { unit }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(step !== undefined && step > 0 && { step }),
    read,
    ...(write !== undefined && { write }),
    ...(labels && { labels }),
    ...(alias && { alias: alias.id }),
  };
}

// A map, a list, or the old text `0:off;1:on`.
function labelsOf(raw: unknown, type: string): Record<string, string> | undefined {
  const pairs = Array.isArray(raw)
    ? raw.map((label, index) => [type === 'number' ? String(index) : String(label), String(label)])
    : raw !== null && typeof raw === 'object'
      ? Object.entries(raw).map(([value, label]) => [value, String(label)])
      : typeof raw === 'string'
        ? raw.split(';').flatMap(pair => {
            const [value = '', label = value] = pair.split(':');
            return value === '' ? [] : [[value.trim(), label.trim()]];
          })
        : [];
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** A channel, device or folder. */
export const branch = ({ id, type, common }: Anything, language: string): Branch => ({
  id,
  kind: type,
  name: nameIn(EnumCommon.parse(common).name, language),
});

/** A room or function. */
export function enumeration({ id, common }: Anything, language: string): Enum {
  const { name, members = [] } = EnumCommon.parse(common);
  const last = id.slice(id.lastIndexOf('.') + 1);
  return { id, name: nameIn(name, language) || last, members: members.filter(one => typeof one === 'string') };
}

/** An adapter's instance. */
export function instance({ id, common }: Anything, language: string): Instance {
  const { enabled = false, mode = 'daemon', version = '', titleLang, title, name } = InstanceCommon.parse(common);
  return {
    id: id.replace(/^system\.adapter\./, ''),
    enabled,
    mode,
    version,
    title: nameIn(titleLang, language) || nameIn(title, language) || nameIn(name, language),
  };
}

/** Reads a state; undefined when there is none, and counted when it is of no known shape. */
export function readState(raw: unknown, counters: Counters): IobState | undefined {
  if (raw === null || raw === undefined) return undefined;
  const parsed = State.safeParse(raw);
  if (parsed.success) return parsed.data;
  counters.unreadable++;
  return undefined;
}

/** What ioBroker says of itself. */
export interface SystemConfig {
  /** English where it has none. */
  readonly language: string;
  readonly place: { readonly latitude: number; readonly longitude: number } | undefined;
}

const System = z.object({
  common: z
    .object({ language: z.string().min(1).catch('en'), latitude: Num, longitude: Num })
    .catch({ language: 'en' }),
});

/** `system.config`. Its coordinates are numbers, numbers as text, or empty. */
export function systemConfig(raw: unknown): SystemConfig {
  const { language = 'en', latitude, longitude } = System.safeParse(raw).data?.common ?? {};
  const isKnown = latitude !== undefined && longitude !== undefined;
  return { language, place: isKnown ? { latitude, longitude } : undefined };
}

const View = z.object({ rows: z.array(z.object({ value: z.unknown().optional() })) });

/** The objects of an answer of getObjectView. */
export function readView(answer: unknown, counters: Counters): unknown[] {
  const parsed = View.safeParse(answer);
  if (parsed.success) return parsed.data.rows.map(({ value }) => value);
  counters.unreadable++;
  return [];
}
