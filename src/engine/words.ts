// Words for `describe`: the English that CLI, MCP, traces and the page show.
import type { Target } from '../model/target.ts';

/** A target in words. */
export function targetWords(target: unknown): string {
  const t = target as Target;
  if (typeof t === 'string') return t;
  if (Array.isArray(t)) return listWords(t, 'or');
  const parts: string[] = [];
  if (t.capability !== undefined) parts.push(`${listWords([t.capability].flat(), 'or')} devices`);
  else parts.push('devices');
  if (t.room !== undefined) parts.push(`in ${listWords([t.room].flat(), 'or')}`);
  if (t.label !== undefined) parts.push(`named “${t.label}”`);
  if (t.backend !== undefined) parts.push(`of ${t.backend}`);
  if (t.except?.length) parts.push(`but ${listWords(t.except, 'and')}`);
  return parts.join(' ');
}

/** a, b or c. */
export function listWords(items: readonly unknown[], last: 'and' | 'or'): string {
  const words = items.map(valueWords);
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** A value, a list of values or an expression in words. */
export function valueWords(value: unknown): string {
  if (Array.isArray(value)) return listWords(value, 'or');
  if (value !== null && typeof value === 'object' && 'expr' in value) return `(${String(value.expr)})`;
  if (value === null) return 'nothing';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** `level 30, duration 2`: what goes with something, by name. */
export const fieldWords = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${valueWords(value)}`)
    .join(', ');

/** "for 5m", or nothing. */
export const forWords = (value: unknown): string =>
  value === undefined ? '' : ` and stays so for ${valueWords(value)}`;

/** "above 5 and below 7". */
export function boundWords(config: { above?: unknown; below?: unknown }): string {
  const parts: string[] = [];
  if (config.above !== undefined) parts.push(`above ${valueWords(config.above)}`);
  if (config.below !== undefined) parts.push(`below ${valueWords(config.below)}`);
  return parts.join(' and ');
}

/** "any of", "all of" … before a target of several. */
export const matchWords = (match: string | undefined): string =>
  match === undefined || match === 'any'
    ? ''
    : match === 'all'
      ? 'all of '
      : match === 'none'
        ? 'none of '
        : `the ${match} of `;
