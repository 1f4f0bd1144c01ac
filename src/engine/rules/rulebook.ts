// The rulebook: files, revisions and live rules kept as one. Every way to change a rule comes through here.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CausewayError } from '../../lib/errors.ts';
import { jsonEqual, mergePatch } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import { didYouMean } from '../../lib/text.ts';
import type { Finding } from '../../model/finding.ts';
import type { Json } from '../../model/value.ts';
import type { Revision, Store } from '../../store/store.ts';
import type { Authority } from '../core.ts';
import type { Engine, StoredRule } from '../engine.ts';
import { type Entry, entryOf, lastGood, secondEntry, secondId } from './entry.ts';
import {
  freeFile,
  type RuleFile,
  readRuleFile,
  readRuleFiles,
  removeRuleFile,
  ruleText,
  sourceOf,
  watchRuleFiles,
  writeRuleFile,
} from './files.ts';
import { invalidRule, parseRule, type Rule } from './schema.ts';

/** Who saves, and through what. */
export interface Author {
  readonly name: string;
  readonly via: string;
  readonly authority: Authority;
}

export type { Entry } from './entry.ts';

/** What the rulebook is made of. */
export interface RulebookParts {
  readonly dir: string;
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  /** Authority of files changed by hand. */
  readonly fileAuthority: Authority;
  /** Checks a rule against what is known of the house. */
  readonly check: (rule: Rule) => Finding[];
  readonly authorityOf: (author: string) => Authority | undefined;
}

/** What a check says of a rule that somebody means to save. */
export interface Checked {
  readonly rule: Rule;
  readonly findings: readonly Finding[];
}

/** The rulebook. `load` first, then `follow` an engine. */
export class Rulebook {
  private readonly parts: RulebookParts;
  private readonly entries = new Map<string, Entry>();
  private engine: Engine | undefined;
  private unwatch: (() => void) | undefined;
  /** One save at a time: the expected revision is checked against the file as it lies on the disk. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(parts: RulebookParts) {
    this.parts = parts;
  }

  /** Reads all files and their revisions; what was changed by hand meanwhile becomes a revision by `file`. */
  async load(): Promise<StoredRule[]> {
    const last = new Map((await this.parts.store.lastRevisions()).map(revision => [revision.rule, revision]));
    const stored: StoredRule[] = [];
    // The revisions of thousands of new files share few transactions.
    const recorded: Promise<void>[] = [];
    const known = new Map(
      [...last.values()].flatMap(({ source, body }) => (source === undefined ? [] : [[source, body]])),
    );
    for (const file of readRuleFiles(this.parts.dir, { known })) {
      const entry = this.entryFor(file, last.get(file.id), recorded);
      this.entries.set(entry.id, entry);
      const known = last.get(entry.id);
      const running = entry.rule ?? lastGood(known);
      if (running) stored.push({ rule: running, revision: entry.revision, authority: this.authorityFor(entry, known) });
    }
    await Promise.all(recorded);
    // Files that were removed by hand while the gateway was off.
    for (const [id, revision] of last) {
      if (revision.body === null || this.entries.has(id)) continue;
      await this.record(id, revision.revision + 1, null, this.byHand);
    }
    return stored;
  }

  /** Lets an engine run what is saved from now on. */
  follow(engine: Engine): void {
    this.engine = engine;
  }

  /** What there is to say of a rule as the house is now; a fault of the check itself keeps no rule from running. */
  findingsOf(rule: Rule): Finding[] {
    try {
      return this.parts.check(rule);
    } catch (error) {
      this.parts.log.error(
        { rule: rule.id, error: String(error) },
        'the rule could not be checked; it runs without findings',
      );
      return [];
    }
  }

  /** Watches the folder. */
  watch(): void {
    this.unwatch = watchRuleFiles(
      this.parts.dir,
      (file, exists) => {
        void this.serially(() => (exists ? this.changedByHand(file) : this.removedByHand(file))).catch(error =>
          this.parts.log.error({ file, error: String(error) }, 'a changed rule file could not be taken over'),
        );
      },
      error =>
        this.parts.log.warn(
          { error: error.message },
          'the folder of the rules cannot be watched; changes by hand are seen at the next start',
        ),
    );
  }

  async stop(): Promise<void> {
    this.unwatch?.();
    await this.queue.catch(() => {});
  }

  list(): Entry[] {
    return [...this.entries.values()];
  }

  get(id: string): Entry | undefined {
    return this.entries.get(id);
  }

  /** @throws RULE_NOT_FOUND */
  require(id: string): Entry {
    const entry = this.entries.get(id);
    if (entry) return entry;
    throw new CausewayError('RULE_NOT_FOUND', `there is no rule "${id}"`, {
      hint: didYouMean(id, this.entries.keys()),
    });
  }

  /** What would come of saving it. @throws RULE_INVALID */
  check(body: Json): Checked {
    const parsed = parseRule(body);
    if ('issues' in parsed) throw invalidRule(parsed.issues);
    const findings = this.parts.check(parsed.rule);
    const errors = findings.filter(finding => finding.severity === 'error');
    if (errors.length > 0)
      throw invalidRule(
        errors.map(({ path, message, hint }) => ({ path, message, ...(hint !== undefined && { hint }) })),
      );
    return { rule: parsed.rule, findings };
  }

  /** @throws RULE_INVALID, RULE_EXISTS, DATA_UNWRITABLE */
  create(body: Json, author: Author): Promise<Entry> {
    return this.serially(async () => {
      const { rule } = this.check(body);
      if (this.entries.has(rule.id)) {
        throw new CausewayError('RULE_EXISTS', `there is a rule "${rule.id}" already`, {
          hint: 'choose another id, or use update_rule',
        });
      }
      return this.save(freeFile(this.parts.dir, rule.id), body, rule, author);
    });
  }

  /**
   * Replaces a rule, or patches it (JSON merge patch).
   * @param expected the revision that the author has read; REVISION_CONFLICT when it is another now
   * @throws RULE_NOT_FOUND, RULE_INVALID, REVISION_CONFLICT, DATA_UNWRITABLE
   */
  update(
    id: string,
    change: { body: Json } | { patch: Json },
    expected: number | undefined,
    author: Author,
  ): Promise<Entry> {
    return this.serially(async () => {
      // What lies on the disk may be newer than what we know.
      await this.changedByHand(this.require(id).file);
      const entry = this.require(id);
      if (expected !== undefined && expected !== entry.revision) {
        throw new CausewayError('REVISION_CONFLICT', `rule "${id}" is at revision ${entry.revision}, not ${expected}`, {
          hint: 'read it again, and apply the change to what it is now',
          details: { revision: entry.revision },
        });
      }
      const body = 'body' in change ? change.body : mergePatch(entry.body, change.patch);
      const { rule } = this.check(body);
      if (rule.id !== id)
        throw invalidRule([
          { path: 'id', message: `an id never changes; create "${rule.id}" as a new rule and delete "${id}"` },
        ]);
      return this.save(entry.file, body, rule, author);
    });
  }

  /** @throws RULE_NOT_FOUND, REVISION_CONFLICT */
  delete(id: string, expected: number | undefined, author: Author): Promise<void> {
    return this.serially(async () => {
      await this.changedByHand(this.require(id).file);
      const entry = this.require(id);
      if (expected !== undefined && expected !== entry.revision) {
        throw new CausewayError('REVISION_CONFLICT', `rule "${id}" is at revision ${entry.revision}, not ${expected}`, {
          hint: 'read it again',
        });
      }
      await this.retire(entry, author, () => removeRuleFile(this.parts.dir, entry.file));
    });
  }

  private async save(file: string, body: Json, rule: Rule, author: Author): Promise<Entry> {
    const known = this.entries.get(rule.id);
    const text = ruleText(body, known ? readRuleFile(this.parts.dir, file).text : undefined);
    const last = await this.lastOf(rule.id);
    const revision = (last?.revision ?? 0) + 1;
    await this.record(rule.id, revision, body, author, sourceOf(file, text, body));
    try {
      await writeRuleFile(this.parts.dir, file, text);
    } catch (error) {
      // The newest revision is what is in force.
      const { author: name, via } = last ?? { author: author.name, via: author.via };
      await this.record(rule.id, revision + 1, last?.body ?? null, { ...author, name, via });
      if (known) this.entries.set(rule.id, { ...known, revision: revision + 1 });
      throw error;
    }
    const entry: Entry = { id: rule.id, file, body, rule, revision, faults: [] };
    this.entries.set(rule.id, entry);
    await this.run(entry, author.authority);
    return entry;
  }

  private async changedByHand(file: string): Promise<void> {
    if (!existsSync(join(this.parts.dir, file))) return this.removedByHand(file);
    const read = readRuleFile(this.parts.dir, file);
    const before = this.listedAt(file);
    // A file that was moved may be told as a new one before the old one is told as gone.
    const holder = this.entries.get(read.id);
    if (holder && holder.file !== file && !existsSync(join(this.parts.dir, holder.file)))
      this.entries.set(holder.id, { ...holder, file });
    if (before && before.id !== read.id && read.rule) await this.retire(before, this.byHand);
    const known = this.entries.get(before?.id ?? read.id);
    if (
      known &&
      known.faults.length === 0 &&
      read.rule &&
      known.file === file &&
      jsonEqual(known.body, read.body ?? null)
    )
      return;
    const id = read.rule || !before ? read.id : before.id;
    const last = await this.lastOf(id);
    const recorded: Promise<void>[] = [];
    const entry = this.entryFor({ ...read, id }, last, recorded);
    await Promise.all(recorded);
    this.entries.set(entry.id, entry);
    if (entry.faults.length > 0)
      this.parts.log.warn({ file, ...entry.faults[0] }, 'a rule file does not parse; the last good revision runs on');
    if (entry.rule && entry.file === file) await this.run(entry, this.authorityFor(entry, last));
    else this.engine?.core.sinks.onRule(entry.id, 'updated');
  }

  private async removedByHand(file: string): Promise<void> {
    const entry = this.listedAt(file);
    if (!entry) return;
    const listed = new Set(this.list().map(one => one.file));
    const moved = readRuleFiles(this.parts.dir, { wanted: name => !listed.has(name) }).find(
      read => read.id === entry.id,
    );
    if (!moved) return this.retire(entry, this.byHand);
    this.entries.set(entry.id, { ...entry, file: moved.file });
    return this.changedByHand(moved.file);
  }

  /** Ends a rule. A second file of its id, which had to stand back, takes its place. */
  private async retire(entry: Entry, author: Author, remove: () => void = () => {}): Promise<void> {
    const last = await this.lastOf(entry.id);
    if (last && last.body !== null) await this.record(entry.id, last.revision + 1, null, author);
    remove();
    this.entries.delete(entry.id);
    await this.withdraw(entry.id);
    const second = this.list().find(one => one.id === secondId(entry.id, one.file));
    if (second) await this.changedByHand(second.file);
  }

  private listedAt(file: string): Entry | undefined {
    return this.list().find(entry => entry.file === file);
  }

  private async lastOf(id: string): Promise<Revision | undefined> {
    return (await this.parts.store.revisions(id, 1))[0];
  }

  private get byHand(): Author {
    return { name: 'file', via: 'file', authority: this.parts.fileAuthority };
  }

  /** How a file is listed; a change against the last revision becomes one by `file`, being recorded. */
  private entryFor(read: RuleFile, last: Revision | undefined, recorded: Promise<void>[]): Entry {
    const other = this.entries.get(read.id);
    if (other && other.file !== read.file) return secondEntry(read, other);
    if (!read.rule) return entryOf(read, last?.revision ?? 0);
    const body = read.body ?? null;
    if (last && last.body !== null && jsonEqual(last.body, body)) return entryOf(read, last.revision);
    const revision = (last?.revision ?? 0) + 1;
    recorded.push(this.record(read.id, revision, body, this.byHand, read.source));
    return entryOf(read, revision);
  }

  private async run(entry: Entry, authority: Authority): Promise<void> {
    const { rule } = entry;
    if (!rule || !this.engine) return;
    const { engine } = this;
    await engine.do(() => {
      engine.rules.update(rule, entry.revision, authority);
    });
  }

  private async withdraw(id: string): Promise<void> {
    const { engine } = this;
    if (engine?.live.has(id)) await engine.do(() => engine.rules.remove(id));
    else engine?.core.sinks.onRule(id, 'deleted');
  }

  private record(rule: string, revision: number, body: Json, author: Author, source?: string): Promise<void> {
    return this.parts.store.addRevision({
      rule,
      revision,
      body,
      at: this.parts.now(),
      author: author.name,
      via: author.via,
      ...(source !== undefined && { source }),
    });
  }

  /** Of who made the revision that is in force; what a hand has changed since has that of files. */
  private authorityFor(entry: Entry, last: Revision | undefined): Authority {
    if (!last || last.via === 'file' || entry.revision !== last.revision) return this.parts.fileAuthority;
    return this.parts.authorityOf(last.author) ?? { name: last.author, devices: false, house: false, rules: false };
  }

  private serially<T>(work: () => Promise<T>): Promise<T> {
    const next = this.queue.then(work, work);
    this.queue = next.catch(() => {});
    return next;
  }
}
