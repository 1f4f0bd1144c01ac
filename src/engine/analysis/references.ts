// What a rule names: devices, attributes, commands, variables, modes, topics, rules. Found by walking it once.
import { compileExpression, compileTemplate, hasTemplate, type Names } from '../../lib/expression.ts';
import type { Target } from '../../model/target.ts';
import type { Json } from '../../model/value.ts';
import type { Rule } from '../rules/schema.ts';

/** A place in a rule where a device's attribute is read. */
export interface AttributeRef {
  path: string;
  target: Target;
  attribute: string;
  /** Values compared with it, with their paths. */
  values: { path: string; value: Json }[];
  /** The comparison is with numbers. */
  isNumeric: boolean;
  /** A momentary event is meant. */
  isEvent: boolean;
  part: 'trigger' | 'condition';
}

/** A place in a rule where a device is commanded, or where a trigger waits for a command. */
export interface CommandRef {
  path: string;
  target: Target;
  command: string;
  args: Json | undefined;
  part: 'action' | 'trigger';
  isRetried: boolean;
}

/** All that a rule names. */
export interface References {
  attributes: AttributeRef[];
  commands: CommandRef[];
  devices: { path: string; target: Target }[];
  variables: { path: string; name: string; access: 'read' | 'write' }[];
  modes: { path: string; name: string }[];
  topics: { path: string; topic: string; part: 'trigger' | 'condition' | 'publish' }[];
  rules: { path: string; rule: string }[];
  expressions: { path: string; source: string; isTemplate: boolean; names: Names | undefined }[];
  usesSun: string[];
  periods: { path: string; name: string }[];
  /** Literal values that variables are set to. */
  assignments: { path: string; name: string; value: Json }[];
  /** Names that `as` binds. */
  bindings: string[];
}

const VALUE_FIELDS = ['from', 'to', 'not_from', 'not_to', 'is', 'is_not', 'value'];
const SUN_BOUND = /^(sun|dawn|dusk|nautical|night|golden|solar|nadir)/;

/** Walks a rule. Expressions that do not compile are listed without names. */
export function referencesOf(rule: Pick<Rule, 'triggers' | 'condition' | 'while' | 'actions' | 'finally'>): References {
  const found: References = {
    attributes: [],
    commands: [],
    devices: [],
    variables: [],
    modes: [],
    topics: [],
    rules: [],
    expressions: [],
    usesSun: [],
    periods: [],
    assignments: [],
    bindings: [...bindingsIn([rule.actions, rule.finally] as unknown as Json)],
  };
  const parts = {
    triggers: 'trigger',
    condition: 'condition',
    while: 'condition',
    actions: 'action',
    finally: 'action',
  };
  for (const [field, part] of Object.entries(parts)) {
    const value = (rule as unknown as Record<string, Json | undefined>)[field];
    if (value !== undefined) walk(value, field, part as Part, found);
  }
  return found;
}

/** All names that steps bind by `as`, wherever they stand. */
function* bindingsIn(value: Json | undefined): Generator<string> {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) for (const item of value) yield* bindingsIn(item);
  else {
    if (typeof value.type === 'string' && typeof value.as === 'string') yield value.as;
    for (const item of Object.values(value)) yield* bindingsIn(item);
  }
}

type Part = 'trigger' | 'condition' | 'action';

function walk(value: Json, path: string, part: Part, found: References): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, `${path}/${index}`, part, found);
    return;
  }
  if (typeof value === 'string') {
    if (hasTemplate(value)) addExpression(path, value, true, found);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  if (typeof value.type === 'string') collect(value, path, part, found);
  for (const [key, item] of Object.entries(value)) {
    const where = path === '' ? key : `${path}/${key}`;
    if (key === 'expr' && typeof item === 'string') addExpression(where, item, false, found);
    else walk(item, where, partOf(key, part), found);
  }
}

function partOf(key: string, part: Part): Part {
  if (key === 'condition' || key === 'conditions' || key === 'while') return 'condition';
  // What a wait looks at starts no run, be it a trigger.
  if (key === 'until') return 'condition';
  if (
    key === 'actions' ||
    key === 'finally' ||
    key === 'then' ||
    key === 'else' ||
    key === 'do' ||
    key === 'branches' ||
    key === 'on_timeout' ||
    key === 'on_error'
  )
    return 'action';
  return part;
}

function addExpression(path: string, source: string, isTemplate: boolean, found: References): void {
  let names: Names | undefined;
  try {
    const { bindings } = found;
    names = (isTemplate ? compileTemplate(source, { bindings }) : compileExpression(source, { bindings })).names;
  } catch {
    names = undefined;
  }
  found.expressions.push({ path, source, isTemplate, names });
  if (!names) return;
  for (const { device, attribute } of names.states) {
    found.devices.push({ path, target: device });
    found.attributes.push({
      path,
      target: device,
      attribute,
      values: [],
      isNumeric: false,
      isEvent: false,
      part: 'condition',
    });
  }
  for (const name of names.variables) found.variables.push({ path, name, access: 'read' });
  if (names.sun) found.usesSun.push(path);
}

function collect(config: { [key: string]: Json }, path: string, part: Part, found: References): void {
  const where = (field: string) => (path === '' ? field : `${path}/${field}`);
  const target = (config.device ?? config.devices) as unknown as Target | undefined;
  if (target !== undefined)
    found.devices.push({ path: where(config.device === undefined ? 'devices' : 'device'), target });
  if (target !== undefined && config.type === 'command' && part !== 'condition' && config.command !== undefined) {
    found.commands.push({
      path,
      target,
      command: String(config.command),
      args: config.args,
      part,
      isRetried: config.retry !== undefined,
    });
  }
  const attribute =
    typeof config.attribute === 'string' ? config.attribute : config.type === 'event' ? config.name : undefined;
  if (target !== undefined && typeof attribute === 'string' && part !== 'action') {
    const values = VALUE_FIELDS.flatMap(field =>
      config[field] === undefined ||
      (typeof config[field] === 'object' && !Array.isArray(config[field]) && config[field] !== null)
        ? []
        : Array.isArray(config[field])
          ? (config[field] as Json[]).map((item, index) => ({ path: `${where(field)}/${index}`, value: item }))
          : [{ path: where(field), value: config[field] as Json }],
    );
    found.attributes.push({
      path,
      target,
      attribute,
      values,
      isNumeric: config.type === 'numeric',
      isEvent: config.type === 'event',
      part: part as 'trigger',
    });
  }
  if ((config.type === 'variable' || config.type === 'set_variable') && typeof config.name === 'string') {
    found.variables.push({ path: where('name'), name: config.name, access: part === 'action' ? 'write' : 'read' });
  }
  if (config.type === 'mode') {
    for (const field of ['from', 'to', 'is', 'is_not']) {
      for (const name of [config[field] ?? []].flat())
        if (typeof name === 'string') found.modes.push({ path: where(field), name });
    }
  }
  if (config.type === 'set_mode' && typeof config.mode === 'string' && !hasTemplate(config.mode))
    found.modes.push({ path: where('mode'), name: config.mode });
  if (config.type === 'mqtt' && typeof config.topic === 'string')
    found.topics.push({ path: where('topic'), topic: config.topic, part: part as 'trigger' });
  if (config.type === 'publish' && typeof config.topic === 'string')
    found.topics.push({ path: where('topic'), topic: config.topic, part: 'publish' });
  if (['call_rule', 'control_rule', 'rule'].includes(config.type as string) && typeof config.rule === 'string')
    found.rules.push({ path: where('rule'), rule: config.rule });
  if (config.type === 'set_variable' && typeof config.name === 'string' && config.value !== undefined)
    found.assignments.push({ path: where('value'), name: config.name, value: config.value });
  if (config.type === 'time' && typeof config.period === 'string')
    found.periods.push({ path: where('period'), name: config.period });
  if (config.type === 'sun') found.usesSun.push(path);
  for (const bound of ['after', 'before'])
    if (typeof config[bound] === 'string' && SUN_BOUND.test(config[bound])) found.usesSun.push(where(bound));
}
