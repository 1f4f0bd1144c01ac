// What a command makes of a virtual device, given what it is now.
import type { AttributeDecl, CommandDecl, Effect } from '../../model/capability.ts';
import { coerce, type Json } from '../../model/value.ts';

/** An attribute with the value that it gets. */
export interface Change {
  readonly attribute: string;
  readonly value: Json;
}

const MOVING: readonly Json[] = ['opening', 'closing'];

/** The changes that a command brings about now; effects on attributes that the device lacks are left out. */
export function changesOf(
  declared: CommandDecl,
  args: Readonly<Record<string, Json>>,
  attributes: Readonly<Record<string, AttributeDecl>>,
  present: (attribute: string) => Json | undefined,
): Change[] {
  return declared.effects.flatMap(effect => {
    const { attribute } = effect;
    const type = attributes[attribute];
    if (!type) return [];
    const raw = outcomeOf(effect, args, type, present(attribute));
    const coerced = raw === undefined ? undefined : coerce(raw, type);
    return coerced?.ok ? [{ attribute, value: coerced.value }] : [];
  });
}

function outcomeOf(
  effect: Effect,
  args: Readonly<Record<string, Json>>,
  type: AttributeDecl,
  present: Json | undefined,
): Json | undefined {
  if ('value' in effect) return effect.value;
  if ('fromArg' in effect) return args[effect.fromArg];
  // Of two words a toggle takes the other one, and the first where nothing is known.
  if (type.type === 'boolean') return present !== true;
  if (type.values?.length === 2) return type.values.find(word => word !== present);
  // What moved and is stopped stands somewhere between.
  return present !== undefined && MOVING.includes(present) ? 'partially open' : present;
}
