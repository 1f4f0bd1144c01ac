// Tables of docs/rules.md: the frame, every kind with fields and examples, and what other systems call it.

import { z } from 'zod';
import { actions } from '../../src/engine/actions/index.ts';
import { conditions } from '../../src/engine/conditions/index.ts';
import {
  attributeFields,
  byField,
  catchUpField,
  levelFields,
  stepFields,
  triggerFields,
} from '../../src/engine/fields.ts';
import { RuleSchema } from '../../src/engine/rules/schema.ts';
import { triggers } from '../../src/engine/triggers/index.ts';
import type { Kind } from '../../src/lib/registry.ts';
import { FINDING_CODES } from '../../src/model/finding.ts';
import { Limits, RunMode } from '../../src/model/rule.ts';
import { fieldsOf, fieldTable } from './fields.ts';
import { ACTION_NOTES, CONDITION_NOTES, FINDINGS, type KindNotes, SEED_COUNTERPARTS, TRIGGER_NOTES } from './kinds.ts';
import { code, codes, fence, prose, table, yamlOf } from './markdown.ts';
import type { Tables } from './template.ts';

const { match } = attributeFields;
const COMMON_TRIGGER = { ...triggerFields, ...levelFields, ...byField, ...catchUpField, match };
const COMMON_CONDITION = { match };
const COMMON_STEP = { ...stepFields, on_error: undefined };

/** Fills docs/rules.md. */
export const ruleTables = (): Tables => ({
  frame: fieldTable(frame()),
  mode: fieldTable(fieldsOf(RunMode)),
  limits: fieldTable(fieldsOf(Limits)),
  trigger_common: fieldTable(fieldsOf(z.strictObject(COMMON_TRIGGER))),
  step_common: fieldTable(fieldsOf(actions.get('log').schema).filter(({ name }) => Object.hasOwn(COMMON_STEP, name))),
  triggers: kindSections('trigger', triggers.kinds, TRIGGER_NOTES, COMMON_TRIGGER),
  conditions: kindSections('condition', conditions.kinds, CONDITION_NOTES, COMMON_CONDITION),
  actions: kindSections('action', actions.kinds, ACTION_NOTES, COMMON_STEP),
  findings: table(
    ['finding', 'says'],
    FINDING_CODES.map(finding => [code(finding), FINDINGS[finding]]),
  ),
  seed_triggers: counterparts('triggers'),
  seed_conditions: counterparts('conditions'),
  seed_actions: counterparts('actions'),
});

const ELSEWHERE: Readonly<Record<string, string>> = {
  mode: '[a map](#mode)',
  limits: '[a map](#limits)',
  variables: 'map of { initial, type, persist }',
  tests: 'list of [scenarios](scenarios.md)',
};

const frame = () =>
  fieldsOf(RuleSchema)
    .filter(({ name }) => name !== 'use' && name !== 'with')
    .map(field => ({ ...field, type: ELSEWHERE[field.name] ?? field.type }));

const counterparts = (part: keyof typeof SEED_COUNTERPARTS): string =>
  table(
    [part, 'here'],
    SEED_COUNTERPARTS[part].map(({ there, here }) => [code(there), here]),
  );

function kindSections(
  part: string,
  kinds: readonly Kind[],
  notes: Readonly<Record<string, KindNotes>>,
  common: Readonly<Record<string, unknown>>,
): string {
  return kinds.map(kind => kindSection(part, kind, notes[kind.type], common)).join('\n\n');
}

function kindSection(part: string, kind: Kind, notes: KindNotes | undefined, common: object): string {
  const { description = '', examples = [] } = kind.schema.meta() ?? {};
  const fields = fieldsOf(kind.schema).filter(({ name }) => name !== 'type');
  // `for` and `timeout` of a kind's own are told with the kind, even where others have them too.
  const own = fields.filter(({ name }) => !Object.hasOwn(common, name) || (kind.type === 'webhook' && name === 'id'));
  // Steps have theirs in common, all of them.
  const shared = part === 'action' ? [] : fields.filter(field => !own.includes(field)).map(({ name }) => name);
  const blocks = [
    `### ${part} ${kind.type}`,
    `${prose(sentence(description))}${shared.length > 0 ? ` Common fields: ${codes(shared)}.` : ''}`,
    ...(own.length > 0 ? [fieldTable(own)] : []),
    fence(
      'yaml',
      (examples as unknown[])
        .map(example => yamlOf(example))
        .map(listItem)
        .join('\n'),
    ),
    ...(notes?.notes ? [notes.notes.map(note => `- ${note}`).join('\n')] : []),
    ...(notes ? [`Elsewhere: ${elsewhere(notes)}.`] : []),
  ];
  return blocks.join('\n\n');
}

const elsewhere = ({ elsewhere: names }: KindNotes): string =>
  Object.entries(names)
    .map(([system, name]) => `${system} ${name}`)
    .join(' · ');

const sentence = (text: string): string => (text === '' || /[.!?]$/.test(text) ? text : `${text}.`);

const listItem = (text: string): string =>
  text
    .split('\n')
    .map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`))
    .join('\n');
