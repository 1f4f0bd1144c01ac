// Tables of docs/expressions.md: names, functions, bounds.

import { LIMITS } from '../../src/lib/expression/frame.ts';
import { FIELDS, ROOTS } from '../../src/lib/expression/scope.ts';
import { expressionFunctions } from '../../src/lib/expression.ts';
import { code, codes, table } from './markdown.ts';
import type { Tables } from './template.ts';

/** What each name means. */
export const NAMES: Readonly<Record<keyof typeof ROOTS, string>> = {
  trigger: 'what started the run',
  args: 'what `call_rule`, “run now” or REST gave: `args.room`',
  vars: 'variables by name: the rule’s own, then the house’s',
  repeat: 'inside `repeat`: `repeat.index` counts from 1, `repeat.item` is the item of `for_each`',
  mode: 'the mode of the house',
  now: 'the present instant',
  sun: 'where the sun stands, in degrees; `sun.up` while any of it can be seen',
};

/** Fields of `trigger`, and the kinds that have them. */
export const TRIGGER_FIELDS: Readonly<Record<string, string>> = {
  id: 'id of the trigger',
  type: 'its kind',
  at: 'the instant at which it fired',
  device: 'id of the device',
  attribute: 'name of the attribute, or of the momentary event',
  value: 'the value now; of `mqtt`, the part at `path`',
  previous: 'the value before',
  event: 'the whole envelope; absent for kinds on the clock',
  topic: '`mqtt`: the topic',
  payload: '`mqtt`: the whole payload',
  body: '`webhook`: the body, JSON or text',
  query: '`webhook`: the query, by name',
  method: '`webhook`: the method',
  flow: '`flow`: the conversation',
  key: '`flow`: the value of the field `per`',
  count: '`flow`, `count`: how many',
  sum: '`flow`: the sum',
  rule: '`rule`: id of the other rule',
  outcome: '`rule`: how its run ended, or why there was none',
  command: '`command`: the command',
  args: '`command`: its arguments',
};

const BOUNDS: Readonly<Record<keyof typeof LIMITS, string>> = {
  source: 'characters of an expression',
  nodes: 'parts (names, numbers, operators, calls)',
  depth: 'levels of nesting',
  literal: 'elements of a list or map that is written out',
  callArguments: 'arguments of a call',
  items: 'elements of a list that a macro runs over, or that an expression makes',
  text: 'characters of a text that an expression makes',
  work: 'elements, or 64 characters of text each, that one evaluation may touch',
};

/** Fills docs/expressions.md. */
export const expressionTables = (): Tables => ({
  names: table(
    ['name', 'what it is', 'fields'],
    Object.entries(ROOTS).map(([name, type]) => [
      code(name),
      NAMES[name as keyof typeof ROOTS],
      name === 'trigger' ? 'below' : codes(Object.keys(FIELDS[type] ?? {})),
    ]),
  ),
  trigger: table(
    ['field', 'what it is'],
    Object.keys(FIELDS.Trigger ?? {}).map(field => [code(`trigger.${field}`), TRIGGER_FIELDS[field] ?? '']),
  ),
  functions: table(
    ['written', 'gives'],
    expressionFunctions.map(({ usage, text }) => [code(usage), text]),
  ),
  bounds: table(
    ['at most', 'of what'],
    Object.entries(LIMITS).map(([name, limit]) => [limit.toLocaleString('en'), BOUNDS[name as keyof typeof LIMITS]]),
  ),
});
