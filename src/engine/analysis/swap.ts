// One device in the place of another in a rule as it is written: every place where its id stands.
import { hasTemplate } from '../../lib/expression.ts';
import type { Json } from '../../model/value.ts';

/** A rule with another device in it. */
export interface Swapped {
  readonly body: Json;
  /** Where the id stood (FORMATS: `actions/1/device`). */
  readonly places: readonly string[];
  /** Texts that have the id within other words (topics, messages): they stay, and somebody must look at them. */
  readonly left: readonly string[];
}

/** Fields whose words are ids of devices, also in a list. */
const NAMING = new Set(['device', 'devices', 'except']);

/**
 * Puts `to` where `from` stands as an id: in targets and selectors' exceptions, in quotes within expressions, and in the
 * rule's tests also as a key. An alias is no id: it stays.
 */
export function swapDevice(body: Json, from: string, to: string): Swapped {
  const places: string[] = [];
  const left: string[] = [];
  const quoted = new RegExp(`(["'])${escaped(from)}\\1`, 'g');

  const mention = mentionOf(from);

  const text = (value: string, path: string, key: string): string => {
    if (NAMING.has(key) && value === from) {
      places.push(path);
      return to;
    }
    const isExpression = key === 'expr' || hasTemplate(value);
    const swapped = isExpression ? value.replace(quoted, (_, quote: string) => `${quote}${to}${quote}`) : value;
    if (swapped !== value) places.push(path);
    if (mention.test(swapped)) left.push(path);
    return swapped;
  };

  /** @param key the field that it stands in; that of the list for what is in one */
  const walk = (value: Json, path: string, key: string): Json => {
    if (typeof value === 'string') return text(value, path, key);
    if (Array.isArray(value)) return value.map((item, i) => walk(item, `${path}/${i}`, key));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => {
        const where = path === '' ? name : `${path}/${name}`;
        if (name !== from || !path.startsWith('tests/')) return [name, walk(item, where, name)];
        places.push(where);
        return [to, walk(item, where, name)];
      }),
    );
  };

  return { body: walk(body, '', ''), places, left };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Finds an id within other words: as it is, or as a topic has it. */
const mentionOf = (id: string): RegExp => {
  const topic = `/${escaped(id.replace(':', '/'))}`;
  return new RegExp(`(?:(?<![\\w.:-])${escaped(id)}|${topic})(?![\\w.:-])`);
};
