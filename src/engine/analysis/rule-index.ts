// Rules by what they wait for and what they do, so that a check asks only those that matter: 10,000 rules must not cost
// each save a look at all of them.
import type { Rule } from '../rules/schema.ts';

/** Rules by keys. */
export class RuleIndex {
  private readonly keysOf: (rule: Rule) => readonly string[];
  private readonly rules = new Map<string, { rule: Rule; keys: readonly string[] }>();
  private readonly byKey = new Map<string, Set<Rule>>();
  private last: readonly Rule[] = [];

  constructor(keysOf: (rule: Rule) => readonly string[]) {
    this.keysOf = keysOf;
  }

  /** Follows the rules as they are now; cheap when few have changed. */
  follow(rules: readonly Rule[]): void {
    const { last } = this;
    if (rules.length === last.length && rules.every((rule, index) => rule === last[index])) return;
    this.last = rules;
    const present = new Set<string>();
    for (const rule of rules) {
      present.add(rule.id);
      if (this.rules.get(rule.id)?.rule !== rule) this.put(rule);
    }
    for (const id of [...this.rules.keys()]) if (!present.has(id)) this.remove(id);
  }

  private put(rule: Rule): void {
    this.remove(rule.id);
    const keys = this.keysOf(rule);
    this.rules.set(rule.id, { rule, keys });
    for (const key of keys) {
      const known = this.byKey.get(key) ?? new Set();
      this.byKey.set(key, known.add(rule));
    }
  }

  private remove(id: string): void {
    const known = this.rules.get(id);
    if (!known) return;
    this.rules.delete(id);
    for (const key of known.keys) {
      const rules = this.byKey.get(key);
      rules?.delete(known.rule);
      if (rules?.size === 0) this.byKey.delete(key);
    }
  }

  /** Puts a rule that is about to be saved in the place of its present form, for as long as `look` runs. */
  with<T>(rule: Rule, look: () => T): T {
    const before = this.rules.get(rule.id)?.rule;
    this.put(rule);
    try {
      return look();
    } finally {
      if (before) this.put(before);
      else this.remove(rule.id);
    }
  }

  get(id: string): Rule | undefined {
    return this.rules.get(id)?.rule;
  }

  /** The rules with a key. */
  at(key: string): ReadonlySet<Rule> {
    return this.byKey.get(key) ?? NONE;
  }
}

const NONE: ReadonlySet<Rule> = new Set();
