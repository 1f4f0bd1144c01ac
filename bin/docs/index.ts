// All that is generated: pages from templates in `pages/` with tables from the sources, JSON Schemas, example files.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backendSchemas } from '../../src/backends/index.ts';
import { exampleConfig, exampleHouse } from '../../src/config/describe.ts';
import { capabilityTables } from './capabilities.ts';
import { configTables } from './config.ts';
import { errorTables } from './errors.ts';
import { expressionTables } from './expressions.ts';
import { mqttTables } from './mqtt.ts';
import { operationTables } from './operations.ts';
import { ruleTables } from './rules.ts';
import { scenarioTables } from './scenarios.ts';
import { jsonSchemas } from './schemas.ts';
import { fill, type Tables } from './template.ts';

/** The checkout. */
export const ROOT = resolve(import.meta.dirname, '../..');

const PAGES: Readonly<Record<string, () => Tables>> = {
  rules: ruleTables,
  expressions: expressionTables,
  scenarios: scenarioTables,
  operations: operationTables,
  config: configTables,
  mqtt: mqttTables,
  errors: errorTables,
  capabilities: capabilityTables,
};

/** Path from the root → text, of every generated file. */
export function generate(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [name, tables] of Object.entries(PAGES)) {
    const template = `bin/docs/pages/${name}.md`;
    const note = `<!-- Made by \`npm run docs\` from ${template} and the sources: edit those. -->\n\n`;
    files.set(`docs/${name}.md`, note + fill(readFileSync(join(ROOT, template), 'utf8'), tables()));
  }
  for (const [name, schema] of Object.entries(jsonSchemas())) {
    files.set(`docs/schema/${name}.schema.json`, `${JSON.stringify(schema, null, 1)}\n`);
  }
  files.set('config.example.yaml', modeline('config') + exampleConfig(backendSchemas));
  files.set('house.example.yaml', modeline('house') + exampleHouse());
  return files;
}

/** What editors with a YAML language server look for. */
const modeline = (schema: string): string => `# yaml-language-server: $schema=docs/schema/${schema}.schema.json\n`;

/** Generated files that are missing or not what would be generated now. */
export function staleFiles(): string[] {
  return [...generate()].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
}

const textOf = (path: string): string | undefined =>
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined;
