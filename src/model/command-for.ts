// Which command makes an attribute a value: `set` topics, scenes and importers ask this of the declarations.
import type { Device } from './device.ts';
import { type Json, valuesEqual } from './value.ts';

/** The command, with its arguments, whose declared effects bring the value about; undefined when there is none. */
export function commandFor(
  device: Device,
  attribute: string,
  value: Json,
): { command: string; args: Record<string, Json> } | undefined {
  for (const [command, declared] of Object.entries(device.commands)) {
    if (!declared.idempotent) continue;
    for (const effect of declared.effects) {
      if (effect.attribute !== attribute) continue;
      if ('value' in effect && valuesEqual(effect.value, value)) return { command, args: {} };
      if ('fromArg' in effect) {
        const others = declared.args.filter(a => a.name !== effect.fromArg && a.optional !== true);
        if (others.length === 0) return { command, args: { [effect.fromArg]: value } };
      }
    }
  }
  return undefined;
}
