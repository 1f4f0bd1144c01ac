// MQTT topic names and filters (MQTT 3.1.1 §4.7): validity, matching, a trie of filters, ids as one level.

/** The kinds' limit on levels; deeper topics of the outside are not routed. */
const MAX_LEVELS = 32;

/** Why a filter cannot be subscribed to; undefined when it can. */
export function filterFault(filter: string): string | undefined {
  if (filter.length === 0) return 'it is empty';
  if (filter.includes('\0')) return 'it holds a null character';
  const levels = filter.split('/');
  if (levels.length > MAX_LEVELS) return `it has more than ${MAX_LEVELS} levels`;
  for (const [index, level] of levels.entries()) {
    if (level.includes('#') && (level !== '#' || index !== levels.length - 1))
      return '# may only be the whole last level';
    if (level.includes('+') && level !== '+') return '+ may only be a whole level';
  }
  return undefined;
}

/** Why a topic cannot be published to; undefined when it can. */
export function topicFault(topic: string): string | undefined {
  if (topic.length === 0) return 'it is empty';
  if (/[+#\0]/.test(topic)) return 'a topic to publish to has no wildcards';
  if (topic.startsWith('$')) return 'topics that start with $ belong to the broker';
  // Whatever has fewer characters has fewer levels.
  const isDeep = topic.length >= MAX_LEVELS && topic.split('/').length > MAX_LEVELS;
  return isDeep ? `it has more than ${MAX_LEVELS} levels` : undefined;
}

/** True when the filter matches the topic; wildcards at the start do not match `$…` (§4.7.2). */
export function topicMatches(filter: string, topic: string): boolean {
  const wanted = filter.split('/');
  const have = topic.split('/');
  if (topic.startsWith('$') && (wanted[0] === '#' || wanted[0] === '+')) return false;
  for (const [index, level] of wanted.entries()) {
    if (level === '#') return true;
    if (index >= have.length || (level !== '+' && level !== have[index])) return false;
  }
  return wanted.length === have.length;
}

/** True when some topic matches both filters. */
export function filtersOverlap(a: string, b: string): boolean {
  const left = a.split('/');
  const right = b.split('/');
  const n = Math.max(left.length, right.length);
  for (let i = 0; i < n; i++) {
    const x = left[i];
    const y = right[i];
    if (x === '#' || y === '#') return true;
    if (x === undefined || y === undefined) return false;
    if (x !== '+' && y !== '+' && x !== y) return false;
  }
  return true;
}

interface Branch {
  children?: Map<string, Branch>;
  /** Filters that end here. */
  filter?: string;
  count: number;
}

/** A counted set of filters that answers which of them match a topic, in time of the topic's levels. */
export class FilterSet {
  private readonly root: Branch = { count: 0 };
  private readonly exact = new Map<string, number>();

  add(filter: string): void {
    if (!/[+#]/.test(filter)) {
      this.exact.set(filter, (this.exact.get(filter) ?? 0) + 1);
      return;
    }
    let branch = this.root;
    for (const level of filter.split('/')) {
      branch.children ??= new Map();
      let next = branch.children.get(level);
      if (!next) branch.children.set(level, (next = { count: 0 }));
      branch = next;
    }
    branch.filter = filter;
    branch.count++;
  }

  delete(filter: string): void {
    if (!/[+#]/.test(filter)) {
      const left = (this.exact.get(filter) ?? 0) - 1;
      if (left > 0) this.exact.set(filter, left);
      else this.exact.delete(filter);
      return;
    }
    const trail: [Branch, string][] = [];
    let branch = this.root;
    for (const level of filter.split('/')) {
      const next = branch.children?.get(level);
      if (!next) return;
      trail.push([branch, level]);
      branch = next;
    }
    if (--branch.count > 0) return;
    delete branch.filter;
    for (const [parent, level] of trail.reverse()) {
      const child = parent.children?.get(level);
      if (child && child.count === 0 && !child.children?.size) parent.children?.delete(level);
    }
  }

  /** All filters that match, each once. */
  match(topic: string): string[] {
    const found = this.exact.has(topic) ? [topic] : [];
    if (this.root.children) this.collect(this.root, topic.split('/'), 0, topic.startsWith('$'), found);
    return found;
  }

  private collect(branch: Branch, levels: string[], at: number, dollar: boolean, found: string[]): void {
    const children = branch.children;
    const hash = dollar && at === 0 ? undefined : children?.get('#');
    if (hash?.filter !== undefined) found.push(hash.filter);
    if (at === levels.length) {
      if (branch.filter !== undefined) found.push(branch.filter);
      return;
    }
    if (!children) return;
    const exact = children.get(levels[at] as string);
    if (exact) this.collect(exact, levels, at + 1, dollar, found);
    const plus = dollar && at === 0 ? undefined : children.get('+');
    if (plus) this.collect(plus, levels, at + 1, dollar, found);
  }
}

const PLAIN = /^[A-Za-z0-9_.:-]+$/;

/** An id as one topic level: NFC → UTF-8 → percent-encoded but for `A-Za-z0-9_.:-`; the empty id is `%`. */
export function encodeLevel(id: string): string {
  if (PLAIN.test(id)) return id;
  if (id === '') return '%';
  let text = '';
  for (const byte of Buffer.from(id.normalize('NFC'), 'utf8')) {
    const char = String.fromCharCode(byte);
    text += PLAIN.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

/** The id of a topic level; undefined when the level was not made by `encodeLevel`. */
export function decodeLevel(level: string): string | undefined {
  if (level === '%') return '';
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}
