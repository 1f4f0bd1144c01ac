// The tables of docs/capabilities.md: attributes, and commands with what they bring about.
import {
  type AttributeDecl,
  CAPABILITIES,
  type Capability,
  type CommandDecl,
  type Effect,
} from '../../src/model/capability.ts';
import type { ValueType } from '../../src/model/value.ts';
import { code, table } from './markdown.ts';
import type { Tables } from './template.ts';

/** Fills docs/capabilities.md. */
export const capabilityTables = (): Tables => ({
  attributes: table(
    ['capability', 'attribute', 'values'],
    rows(({ attributes }) => Object.entries(attributes).map(([name, decl]) => [code(name), valuesText(decl)])),
  ),
  commands: table(
    ['capability', 'command', 'brings about', ''],
    rows(({ commands }) =>
      Object.entries(commands).map(([name, decl]) => [code(usage(name, decl)), effectsText(decl), remarks(decl)]),
    ),
  ),
});

/** The name of the capability stands in its first row. */
const rows = (of: (capability: Capability) => string[][]): string[][] =>
  Object.entries(CAPABILITIES).flatMap(([name, capability]) =>
    of(capability).map((cells, index) => [index === 0 ? code(name) : '', ...cells]),
  );

function typeText({ type, values, unit, min, max }: ValueType): string {
  if (values) return values.map(code).join(' · ');
  const range = min !== undefined && max !== undefined ? ` ${min}–${max}` : min === undefined ? '' : ` from ${min}`;
  return `${type === 'string' ? 'text' : type}${range}${unit === undefined ? '' : ` ${unit}`}`;
}

const valuesText = (decl: AttributeDecl): string =>
  [typeText(decl), ...(decl.momentary ? ['momentary'] : []), ...(decl.telemetry ? ['telemetry'] : [])].join(', ');

const usage = (name: string, { args }: CommandDecl): string =>
  args.length === 0 ? name : `${name}(${args.map(arg => `${arg.name}${arg.optional ? '?' : ''}`).join(', ')})`;

function effectText(effect: Effect): string {
  if ('value' in effect) return `${code(effect.attribute)} = ${code(String(effect.value))}`;
  if ('fromArg' in effect) return `${code(effect.attribute)} = its ${effect.fromArg}`;
  return `${code(effect.attribute)}, not known which`;
}

const effectsText = ({ effects }: CommandDecl): string => effects.map(effectText).join(', ') || '–';

const remarks = ({ idempotent, always }: CommandDecl): string =>
  [...(idempotent ? [] : ['once']), ...(always ? ['always sent'] : [])].join(', ');
