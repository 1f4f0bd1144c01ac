// JSON Schemas for editors (`# yaml-language-server: $schema=…`), as people write the files. Draft 7: what editors know.

import { z } from 'zod';
import { backendSchemas } from '../../src/backends/index.ts';
import { houseSchema } from '../../src/config/house.ts';
import { configSchema } from '../../src/config/schema.ts';
import { Action } from '../../src/engine/actions/index.ts';
import { Condition } from '../../src/engine/conditions/index.ts';
import { Trigger } from '../../src/engine/triggers/index.ts';
import { ruleSchema } from '../../src/model/rule.ts';
import { Target } from '../../src/model/target.ts';
import { RuleTest, Scenario } from '../../src/world/scenario.ts';

type JsonSchema = Record<string, unknown>;

/** Name of the file → schema. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const rule = ruleSchema({ trigger: Trigger, condition: Condition, action: Action, scenario: RuleTest });
  return {
    rule: schemaOf(rule, 'A rule of Causeway'),
    scenario: withRules(schemaOf(Scenario, 'A scenario for causeway simulate')),
    house: withEmptySections(schemaOf(houseSchema(Target), 'house.yaml of Causeway')),
    config: withEmptySections(schemaOf(configSchema(backendSchemas), 'config.yaml of Causeway')),
  };
}

function schemaOf(schema: z.ZodType, title: string): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' }) as JsonSchema;
  return { $schema, title, ...rest };
}

/** The rules of a scenario are checked by the engine; editors find their schema beside. */
function withRules(schema: JsonSchema): JsonSchema {
  const scenario = (schema.definitions as Record<string, JsonSchema> | undefined)?.Scenario;
  const rules = (scenario?.properties as Record<string, JsonSchema> | undefined)?.rules;
  if (!rules) throw new Error('the scenario’s schema has no rules any more');
  rules.items = { $ref: 'rule.schema.json' };
  return schema;
}

/** `http:` with all its keys commented out is an empty section; editors would call it a null. */
function withEmptySections(schema: JsonSchema): JsonSchema {
  for (const section of Object.values(schema.properties as Record<string, JsonSchema>)) {
    if (section.type === 'object') section.type = ['object', 'null'];
  }
  return schema;
}
