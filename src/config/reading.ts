// Text from outside YAML (an environment variable, a file, a secret) as the value that a schema expects.
import { parse } from 'yaml';
import { z } from 'zod';
import { definitionOf, unwrap } from '../lib/schema.ts';

/**
 * The first reading of `text` that the schema accepts: the text as it stands, a YAML value (number, boolean, list, map), a
 * list with commas. Where it accepts anything, the YAML value; where none fits, the text, for the schema to complain about.
 */
export function readAs(schema: z.core.$ZodType | undefined, text: string): unknown {
  if (!schema || acceptsAnything(schema)) return yamlValue(text);
  const list = text.split(',').map(item => item.trim());
  const readings = [text, yamlValue(text), list];
  return readings.find(reading => z.safeParse(schema, reading).success) ?? text;
}

/** True where a schema says nothing about the value. */
export const acceptsAnything = (schema: z.core.$ZodType): boolean =>
  ['unknown', 'any'].includes(definitionOf(unwrap(schema)).type);

function yamlValue(text: string): unknown {
  try {
    return parse(text, { schema: 'core', maxAliasCount: 0 });
  } catch {
    return text;
  }
}
