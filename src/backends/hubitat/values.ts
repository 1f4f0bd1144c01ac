// Values: the hub's data types, and what it writes for a value, as ours. Temperatures are °C inside.
import { type Json, parseJson } from '../../lib/json.ts';
import type { AttributeDecl } from '../../model/capability.ts';
import { coerce } from '../../model/value.ts';
import type { Counters } from './counters.ts';
import { isAbsent } from './wire.ts';

/** Celsius or Fahrenheit. */
export type Scale = 'C' | 'F';

/** How an attribute's values are read. */
export interface Reader {
  readonly declared: AttributeDecl;
  readonly form: 'plain' | 'temperature' | 'vector' | 'json';
}

const FORMS: Readonly<Record<string, { type: AttributeDecl['type']; form: Reader['form'] }>> = {
  NUMBER: { type: 'number', form: 'plain' },
  INTEGER: { type: 'number', form: 'plain' },
  BIGDECIMAL: { type: 'number', form: 'plain' },
  ENUM: { type: 'enum', form: 'plain' },
  STRING: { type: 'string', form: 'plain' },
  DYNAMIC_ENUM: { type: 'string', form: 'plain' },
  DATE: { type: 'string', form: 'plain' },
  DATETIME: { type: 'string', form: 'plain' },
  BOOL: { type: 'boolean', form: 'plain' },
  BOOLEAN: { type: 'boolean', form: 'plain' },
  VECTOR3: { type: 'json', form: 'vector' },
  JSON_OBJECT: { type: 'json', form: 'json' },
  JSON: { type: 'json', form: 'json' },
};

/** How values of a data type are read; unknown types are taken as they are, and counted. */
export function readerOf(
  dataType: string | undefined,
  counters: Counters,
): Pick<Reader, 'form'> & { type: AttributeDecl['type'] } {
  if (dataType === undefined) return { type: 'string', form: 'plain' };
  const known = FORMS[dataType.toUpperCase()];
  if (known) return known;
  counters.unknownTypes.add(dataType);
  return { type: 'json', form: 'json' };
}

const FAHRENHEIT = /^°?\s*F$/i;
const CELSIUS = /^°?\s*C$/i;

/** The scale that a unit names, if it is one of temperature. */
export function scaleOf(unit: string | undefined): Scale | undefined {
  if (unit === undefined) return undefined;
  if (FAHRENHEIT.test(unit)) return 'F';
  return CELSIUS.test(unit) ? 'C' : undefined;
}

const toHundredths = (n: number): number => Math.round(n * 100) / 100;

/** °F → °C, to a hundredth. */
export const celsiusOf = (fahrenheit: number): number => toHundredths(((fahrenheit - 32) * 5) / 9);
/** °C → °F, to a tenth: a hundredth of a °C tells no more, and 69 °F come back as 69. */
export const fahrenheitOf = (celsius: number): number => Math.round(celsius * 18 + 320) / 10;

/**
 * A value as the hub wrote it, as ours; null where there is none, or where it does not fit (counted).
 * @param unit as told with this very value
 * @param scale what the hub reports in where no unit is told
 */
export function readValue(
  reader: Reader,
  raw: unknown,
  unit: string | undefined,
  scale: Scale,
  counters: Counters,
): Json {
  if (isAbsent(raw)) return null;
  const { declared, form } = reader;
  if (form === 'vector') return vectorOf(raw);
  if (form === 'json') return (typeof raw === 'string' ? (parseJson(raw) ?? raw) : raw) as Json;
  // The hub's word for a lock or a shade of which it does not know.
  if (declared.type === 'enum' && raw === 'unknown' && !declared.values?.includes('unknown')) return null;
  const text = declared.type === 'string' && typeof raw === 'object' ? JSON.stringify(raw) : raw;
  const coerced = coerce(text, declared);
  if (!coerced.ok) {
    counters.misfits++;
    return null;
  }
  const { value } = coerced;
  if (form !== 'temperature' || typeof value !== 'number') return value;
  return (scaleOf(unit) ?? scale) === 'F' ? celsiusOf(value) : value;
}

/** `[x:2,y:-4,z:1.5]` → { x, y, z }, `[42.5,24]` → [42.5, 24]; other text stays as it is. */
function vectorOf(raw: unknown): Json {
  if (typeof raw !== 'string') return raw as Json;
  const inner = /^\s*\[(.*)\]\s*$/.exec(raw)?.[1];
  if (inner === undefined) return raw;
  const parts = inner.split(',').map(part => /^\s*(?:(\w+)\s*:)?\s*(.*?)\s*$/.exec(part) ?? []);
  const names = parts.map(([, name]) => name);
  const numbers = parts.map(([, , text = '']) => coerce(text, { type: 'number' })).map(one => one.ok && one.value);
  if (numbers.some(one => typeof one !== 'number')) return raw;
  if (names.every(name => name === undefined)) return numbers;
  if (names.some(name => name === undefined)) return raw;
  return Object.fromEntries(names.map((name, i) => [name as string, numbers[i] as number]));
}
