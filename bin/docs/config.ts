// The tables of docs/config.md: every key of config.yaml by section, and of house.yaml with examples.
import { backendSchemas } from '../../src/backends/index.ts';
import { type ConfigKey, describeConfig } from '../../src/config/describe.ts';
import { houseSchema } from '../../src/config/house.ts';
import { configSchema } from '../../src/config/schema.ts';
import { definitionOf, metaOf, unwrap } from '../../src/lib/schema.ts';
import { Target } from '../../src/model/target.ts';
import { code, fence, table, yamlOf } from './markdown.ts';
import type { Tables } from './template.ts';

/** Fills docs/config.md. */
export const configTables = (): Tables => ({ config: sections(), house: houseKeys() });

const shapeOf = (schema: Parameters<typeof unwrap>[0]) => definitionOf(unwrap(schema)).shape ?? {};

function sections(): string {
  const keys = describeConfig(backendSchemas);
  return Object.entries(shapeOf(configSchema(backendSchemas)))
    .map(([section, schema]) => {
      const own = keys.filter(({ path }) => path === section || path.startsWith(`${section}/`));
      return [`### ${section}`, `${metaOf(schema).description ?? ''}.`, keyTable(own)].join('\n\n');
    })
    .join('\n\n');
}

const keyTable = (keys: readonly ConfigKey[]): string =>
  table(
    ['key', 'value', 'default', 'meaning'],
    keys.map(({ path, type, default: preset, description }) => [
      code(path.replaceAll('/', '.')),
      type,
      preset === undefined ? '' : code(preset),
      description,
    ]),
  );

function houseKeys(): string {
  return Object.entries(shapeOf(houseSchema(Target)))
    .map(([key, schema]) => {
      const { description = '', examples = [] } = metaOf(schema);
      const shown = (examples as unknown[]).map(example => fence('yaml', yamlOf({ [key]: example }, { file: true })));
      return [`### ${key} (house.yaml)`, `${description}.`, ...shown].join('\n\n');
    })
    .join('\n\n');
}
