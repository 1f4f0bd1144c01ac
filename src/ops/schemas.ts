// The schemas of rules as JSON Schema, whole and kind by kind, for authors and editors.
import { z } from 'zod';
import { actions } from '../engine/actions/index.ts';
import { conditions } from '../engine/conditions/index.ts';
import { RuleSchema } from '../engine/rules/schema.ts';
import { triggers } from '../engine/triggers/index.ts';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';

const TABLES = { trigger: triggers, condition: conditions, action: actions } as const;
type Part = keyof typeof TABLES;

/** All kinds with a line each, and the fields of the frame. */
export function kindList(): Record<string, unknown> {
  const list = (part: Part) =>
    TABLES[part].kinds.map(kind => ({ type: kind.type, description: String(kind.schema.meta()?.description ?? '') }));
  return {
    rule: Object.keys(RuleSchema.shape),
    triggers: list('trigger'),
    conditions: list('condition'),
    actions: list('action'),
    hint: 'ask for one kind with kind: "trigger state"; a complete example is in each',
  };
}

/** One kind: its JSON Schema and examples, kinds inside it by name only. @throws NOT_FOUND */
export function kindSchema(name: string): Record<string, unknown> {
  const [part, type] = name.trim().split(/[\s/.]+/) as [Part, string | undefined];
  const table = Object.hasOwn(TABLES, part) ? TABLES[part] : undefined;
  const kind = table?.kinds.find(one => one.type === type);
  if (!kind) {
    const known = Object.entries(TABLES).flatMap(([of, { kinds }]) => kinds.map(one => `${of} ${one.type}`));
    throw new CausewayError('NOT_FOUND', `there is no kind "${name}"`, { path: 'kind', hint: didYouMean(name, known) });
  }
  const schema = z.toJSONSchema(kind.schema, { io: 'input' }) as Record<string, unknown> & {
    $defs?: Record<string, Record<string, unknown>>;
  };
  // The kinds that it may hold would fill pages; their names are enough to ask for them.
  for (const union of ['Trigger', 'Condition', 'Action']) {
    if (schema.$defs?.[union])
      schema.$defs[union] = { type: 'object', description: `Any ${union.toLowerCase()}; see get_rule_schema` };
  }
  const used = JSON.stringify({ ...schema, $defs: undefined });
  const keep = (defs: Record<string, Record<string, unknown>>) => {
    const reached = new Set<string>();
    const visit = (text: string) => {
      for (const [, def] of text.matchAll(/#\/\$defs\/([A-Za-z0-9_]+)/g)) {
        if (def === undefined || reached.has(def) || !defs[def]) continue;
        reached.add(def);
        visit(JSON.stringify(defs[def]));
      }
    };
    visit(used);
    return Object.fromEntries(Object.entries(defs).filter(([def]) => reached.has(def)));
  };
  if (schema.$defs) schema.$defs = keep(schema.$defs);
  return { kind: `${part} ${kind.type}`, schema, examples: kind.schema.meta()?.examples ?? [] };
}
