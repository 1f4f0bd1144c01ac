// MQTT 3.1.1 §4.7: which topics and filters are well formed, what matches what, and when one filter lies inside another.

const SLASH = 47;

/** The number of levels: `a/b/` has three. */
export function levelCount(topic: string): number {
  let levels = 1;
  for (let i = 0; i < topic.length; i++) if (topic.charCodeAt(i) === SLASH) levels++;
  return levels;
}

/** U+0000 is forbidden; U+FFFD is what ill-formed UTF-8 decodes to. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that one is meant.
const badCharacter = /[\u0000\uFFFD]/;

/** True for a topic that a message can have. */
export const isTopic = (topic: string): boolean =>
  topic.length > 0 && !topic.includes('+') && !topic.includes('#') && !badCharacter.test(topic);

/** True for a filter whose wildcards each fill a level, `#` the last one. */
export function isFilter(filter: string): boolean {
  if (filter.length === 0 || badCharacter.test(filter)) return false;
  const levels = filter.split('/');
  return levels.every(
    (level, i) =>
      level === '+' || (level === '#' && i === levels.length - 1) || !(level.includes('+') || level.includes('#')),
  );
}

/** Whether `topic` is the root itself or lies under it. */
export const isUnder = (root: string, topic: string): boolean =>
  topic.startsWith(root) && (topic.length === root.length || topic.charCodeAt(root.length) === SLASH);

/** Whether a message on `topic` goes to a subscriber of `filter`. A leading wildcard never reaches a `$` topic. */
export function matches(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && (filter.startsWith('#') || filter.startsWith('+'))) return false;
  const wanted = filter.split('/');
  const given = topic.split('/');
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] === '#') return true;
    if (i >= given.length || (wanted[i] !== '+' && wanted[i] !== given[i])) return false;
  }
  return wanted.length === given.length;
}

/** Whether every topic that `filter` matches is matched by `allowed` too. May say no to an oddly written yes (`+/#` for `#`). */
export function covers(allowed: string, filter: string): boolean {
  if (filter.startsWith('$') && (allowed.startsWith('#') || allowed.startsWith('+'))) return false;
  const outer = allowed.split('/');
  const inner = filter.split('/');
  for (let i = 0; i < outer.length; i++) {
    if (outer[i] === '#') return true;
    if (i >= inner.length || inner[i] === '#') return false;
    if (outer[i] !== '+' && outer[i] !== inner[i]) return false;
  }
  return outer.length === inner.length;
}
