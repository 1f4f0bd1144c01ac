// Fits the arguments of a command to its declaration, before it leaves.
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import type { ArgumentDecl, CommandDecl } from '../model/capability.ts';
import type { Device } from '../model/device.ts';
import { coerce, type Json } from '../model/value.ts';

/** The declaration of a command. @throws COMMAND_UNKNOWN with the nearest names */
export function declarationOf(device: Device, command: string): CommandDecl {
  const declared = Object.hasOwn(device.commands, command) ? device.commands[command] : undefined;
  if (declared) return declared;
  throw new CausewayError('COMMAND_UNKNOWN', `${device.id} has no command "${command}"`, {
    hint: didYouMean(command, Object.keys(device.commands)),
  });
}

/**
 * Arguments by name, of their declared types. A list is read by position.
 * @throws ARGUMENT_INVALID with the argument's name as path
 */
export function fitArguments(declared: CommandDecl, given: Json | undefined, command: string): Record<string, Json> {
  const byName = named(declared.args, given, command);
  const fitted: Record<string, Json> = {};
  for (const name of Object.keys(byName)) {
    if (declared.args.some(arg => arg.name === name)) continue;
    throw new CausewayError('ARGUMENT_INVALID', `${command} takes no argument "${name}"`, {
      path: name,
      hint: didYouMean(
        name,
        declared.args.map(arg => arg.name),
      ),
    });
  }
  for (const arg of declared.args) {
    const value = byName[arg.name];
    if (value === undefined || value === null) {
      if (arg.optional) continue;
      throw new CausewayError('ARGUMENT_INVALID', `${command} wants the argument "${arg.name}"`, {
        path: arg.name,
        hint: `write args: { ${arg.name}: … }${arg.unit ? ` (${arg.unit})` : ''}`,
      });
    }
    fitted[arg.name] = fitOne(arg, value, command);
  }
  return fitted;
}

function named(args: readonly ArgumentDecl[], given: Json | undefined, command: string): Record<string, Json> {
  if (given === undefined || given === null) return {};
  if (Array.isArray(given)) {
    if (given.length > args.length) {
      throw new CausewayError('ARGUMENT_INVALID', `${command} takes ${args.length} arguments, not ${given.length}`);
    }
    return Object.fromEntries(given.map((value, index) => [(args[index] as ArgumentDecl).name, value]));
  }
  if (typeof given === 'object') return given;
  // A bare value is the first argument: `set/level` with the payload 30.
  const [first] = args;
  if (first) return { [first.name]: given };
  throw new CausewayError('ARGUMENT_INVALID', `${command} takes no arguments`);
}

function fitOne(arg: ArgumentDecl, value: Json, command: string): Json {
  const coerced = coerce(value, arg);
  if (!coerced.ok)
    throw new CausewayError('ARGUMENT_INVALID', `${command}: ${arg.name}: ${coerced.reason}`, { path: arg.name });
  const n = coerced.value;
  if (typeof n === 'number' && (n < (arg.min ?? n) || n > (arg.max ?? n))) {
    throw new CausewayError(
      'ARGUMENT_INVALID',
      `${command}: ${arg.name} is ${n}, not within ${arg.min ?? '…'} to ${arg.max ?? '…'}`,
      {
        path: arg.name,
      },
    );
  }
  return n;
}
