// Words with which the devices of a console declare their attributes and commands.
import type { ArgumentDecl, AttributeDecl, CommandDecl, Effect } from '../../../model/capability.ts';
import type { Json, ValueType } from '../../../model/value.ts';

/** A number with its unit. */
export const number = (unit?: string): ValueType => ({ type: 'number', ...(unit !== undefined && { unit }) });

/** A counter or measure. @param step the smallest difference that counts */
export const telemetry = (unit?: string, step?: number): AttributeDecl => ({
  ...number(unit),
  telemetry: true,
  ...(step !== undefined && { step }),
});

/** Something that happens and leaves no state. */
export const event: AttributeDecl = { type: 'json', momentary: true };

/** Overrides what guards a command. */
export const force: ArgumentDecl = { name: 'force', type: 'boolean', optional: true };

/** For how long; without it, for good. */
const minutes: ArgumentDecl = { name: 'minutes', ...number('min'), min: 1, max: 525_600, optional: true };

/** Commands of which the last word about a thing counts. @param what see `CommandDecl.about` */
export const about = (what: string, declared: CommandDecl): CommandDecl => ({ ...declared, about: what });

/** A command that lasts for as long as `minutes` says, and the one that ends it. */
export const lasting = (
  declared: Omit<CommandDecl, 'idempotent' | 'opposes' | 'ends'>,
  command: string,
): CommandDecl => ({
  ...declared,
  args: [...declared.args, minutes],
  idempotent: true,
  opposes: command,
  ends: { after: 'minutes', command },
});

/** A command of which twice is not the same as once. */
export const once = (args: readonly ArgumentDecl[] = [], effects: readonly Effect[] = []): CommandDecl => ({
  args,
  effects,
  idempotent: false,
});

/** A command that makes an attribute a value. */
export const sets = (
  attribute: string,
  value: Json,
  args: readonly ArgumentDecl[] = [],
  opposes?: string,
): CommandDecl => ({
  args,
  effects: [{ attribute, value }],
  idempotent: true,
  ...(opposes !== undefined && { opposes }),
});

/** A command whose argument an attribute becomes. */
export const takes = (attribute: string, arg: ArgumentDecl, more: readonly ArgumentDecl[] = []): CommandDecl => ({
  args: [arg, ...more],
  effects: [{ attribute, fromArg: arg.name }],
  idempotent: true,
});
