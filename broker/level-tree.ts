// A tree keyed by topic levels, with one value at a path. It is searched both ways: stored filters by a topic (who gets
// this?) and stored topics by a filter (what is retained there?), each at the cost of the branches visited.

interface Branch<T> {
  value: T | undefined;
  children: Map<string, Branch<T>> | undefined;
}

/** Values at topic paths; `undefined` is no value. */
export interface LevelTree<T> {
  get(path: string): T | undefined;
  set(path: string, value: T): void;
  delete(path: string): void;
  /** The values of the stored filters that match `topic`, `#` before `+` before the exact one at each level. */
  matching(topic: string): T[];
  /** False when no stored filter can match the topic; quicker than to look for those that do. */
  mayMatch(topic: string): boolean;
  /** The values of the stored topics that `filter` matches; the tree may change while they are read. */
  under(filter: string): Generator<T>;
}

const leaf = <T>(): Branch<T> => ({ value: undefined, children: undefined });

/** Whether a stored filter begins as the topic does: most topics are nobody's, which this tells without a list of levels. */
function mayMatch<T>({ children }: Branch<T>, topic: string): boolean {
  if (!children) return false;
  if (children.has('#') || children.has('+')) return true;
  const end = topic.indexOf('/');
  return children.has(end < 0 ? topic : topic.slice(0, end));
}

function collect<T>(branch: Branch<T>, levels: readonly string[], depth: number, found: T[]): void {
  // A leading wildcard does not reach topics that begin with `$` (MQTT-4.7.2-1).
  const wild = depth > 0 || !levels[0]!.startsWith('$');
  if (wild) {
    const rest = branch.children?.get('#');
    if (rest?.value !== undefined) found.push(rest.value);
  }
  if (depth === levels.length) {
    if (branch.value !== undefined) found.push(branch.value);
    return;
  }
  const one = wild ? branch.children?.get('+') : undefined;
  if (one) collect(one, levels, depth + 1, found);
  const exact = branch.children?.get(levels[depth]!);
  if (exact) collect(exact, levels, depth + 1, found);
}

function* everything<T>(branch: Branch<T>, isRoot: boolean): Generator<T> {
  if (branch.value !== undefined) yield branch.value;
  for (const [name, child] of branch.children ?? []) {
    if (!isRoot || !name.startsWith('$')) yield* everything(child, false);
  }
}

function* walk<T>(branch: Branch<T>, levels: readonly string[], depth: number): Generator<T> {
  const level = levels[depth];
  if (level === undefined) {
    if (branch.value !== undefined) yield branch.value;
  } else if (level === '#') {
    yield* everything(branch, depth === 0);
  } else if (level === '+') {
    for (const [name, child] of branch.children ?? []) {
      if (depth > 0 || !name.startsWith('$')) yield* walk(child, levels, depth + 1);
    }
  } else {
    const exact = branch.children?.get(level);
    if (exact) yield* walk(exact, levels, depth + 1);
  }
}

function prune<T>(branch: Branch<T>, levels: readonly string[], depth: number): void {
  if (depth === levels.length) {
    branch.value = undefined;
    return;
  }
  const child = branch.children?.get(levels[depth]!);
  if (!child) return;
  prune(child, levels, depth + 1);
  if (child.value === undefined && child.children === undefined) branch.children!.delete(levels[depth]!);
  if (branch.children!.size === 0) branch.children = undefined;
}

/** An empty tree. */
export function createLevelTree<T>(): LevelTree<T> {
  const root = leaf<T>();
  return {
    get(path) {
      let branch: Branch<T> | undefined = root;
      for (const level of path.split('/')) branch = branch?.children?.get(level);
      return branch?.value;
    },
    set(path, value) {
      let branch = root;
      for (const level of path.split('/')) {
        branch.children ??= new Map();
        const child: Branch<T> = branch.children.get(level) ?? leaf();
        branch.children.set(level, child);
        branch = child;
      }
      branch.value = value;
    },
    delete: path => prune(root, path.split('/'), 0),
    matching(topic) {
      const found: T[] = [];
      if (!mayMatch(root, topic)) return found;
      collect(root, topic.split('/'), 0, found);
      return found;
    },
    mayMatch: topic => mayMatch(root, topic),
    under: filter => walk(root, filter.split('/'), 0),
  };
}
