// A rule as the rulebook lists it, made of its file as it was read.
import type { Json } from '../../model/value.ts';
import type { Revision } from '../../store/store.ts';
import type { FileFault, RuleFile } from './files.ts';
import { parseRule, type Rule } from './schema.ts';

/** A rule as the rulebook lists it. */
export interface Entry {
  readonly id: string;
  readonly file: string;
  /** As its author wrote it. */
  readonly body: Json;
  /** undefined where the file does not parse: then the last good revision runs on, if there is one. */
  readonly rule: Rule | undefined;
  readonly revision: number;
  readonly faults: readonly FileFault[];
}

/** The entry of a file. @param revision of its body; 0 where none ever was in force */
export const entryOf = (read: RuleFile, revision: number): Entry => ({
  id: read.id,
  file: read.file,
  body: read.body ?? null,
  rule: read.rule,
  revision,
  faults: read.faults,
});

/** The id under which a file is listed whose rule has the id of another file. */
export const secondId = (id: string, file: string): string => `${id}@${file}`;

/** The entry of a file whose id is that of another one: the first file of an id is the rule. */
export function secondEntry(read: RuleFile, first: Entry): Entry {
  const fault: FileFault = {
    message: `the id "${read.id}" is that of ${first.file} already`,
    line: 1,
    column: 1,
    path: 'id',
    hint: 'give it an id of its own',
  };
  return { ...entryOf(read, 0), id: secondId(read.id, read.file), rule: undefined, faults: [fault] };
}

/** The rule of the last revision, where that was one that can run. */
export function lastGood(last: Revision | undefined): Rule | undefined {
  if (!last || last.body === null) return undefined;
  const parsed = parseRule(last.body);
  return 'rule' in parsed ? parsed.rule : undefined;
}
