// Patterns of ids as ioBroker has them: `*` is any characters, dots too; the rest stands for itself.

/** Whether an id fits. */
export type Matcher = (id: string) => boolean;

/** Whether a text has a wildcard. */
export const isPattern = (text: string): boolean => text.includes('*');

/** A matcher of one pattern. */
export function matcherOf(pattern: string): Matcher {
  if (!isPattern(pattern)) return id => id === pattern;
  if (pattern === '*') return () => true;
  const source = pattern
    .split('*')
    .map(text => text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&'))
    .join('[^]*');
  const regex = new RegExp(`^${source}$`, 'u');
  return id => regex.test(id);
}

const anyOf = (patterns: readonly string[]): Matcher => {
  const matchers = patterns.map(matcherOf);
  return id => matchers.some(matches => matches(id));
};

/** Which states come in: `system.*` only by a pattern that begins with it, since they chatter. */
export function selection({ states, exclude }: { states: readonly string[]; exclude: readonly string[] }): Matcher {
  const isOut = anyOf(exclude);
  const isIn = anyOf(states);
  const isSystemIn = anyOf(states.filter(pattern => pattern.startsWith('system.')));
  return id => (id.startsWith('system.') ? isSystemIn(id) : isIn(id)) && !isOut(id);
}

/** Patterns without those that another one covers anyway. */
export function withoutCovered(patterns: readonly string[]): string[] {
  const unique = [...new Set(patterns)];
  return unique.filter(one => !unique.some(other => other !== one && matcherOf(other)(one)));
}

/** What every id that fits begins with. */
export const stemOf = (pattern: string): string => pattern.slice(0, `${pattern}*`.indexOf('*'));

/** States of no adapter, for which nobody confirms. */
export const unownedOf = ({ unowned }: { unowned: readonly string[] }): Matcher => anyOf(unowned);
