// Targets: an id, an alias, a list, or a selector with live membership.
import { z } from 'zod';
import { CapabilitySchema, DeviceRef } from './device.ts';

/** Chooses devices by what they are. All given parts must fit. */
const Selector = z
  .strictObject({
    room: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
    capability: z.union([CapabilitySchema, z.array(CapabilitySchema).min(1)]).optional(),
    label: z
      .string()
      .optional()
      .meta({ description: 'Part of the device’s name, case ignored; `*` and `?` are wildcards' }),
    backend: z.string().optional(),
    except: z.array(DeviceRef).optional(),
  })
  .refine(s => s.room !== undefined || s.capability !== undefined || s.label !== undefined || s.backend !== undefined, {
    message: 'a selector needs at least one of room, capability, label, backend',
  })
  .meta({ id: 'Selector' });

/** A device, several, or a selector. */
export const Target = z.union([DeviceRef, z.array(DeviceRef).min(1), Selector]).meta({
  id: 'Target',
  description: 'An id, an alias, a list of them, or a selector { room, capability, label, backend, except }',
});
/** See `Target` (the schema). */
export type Target = z.infer<typeof Target>;

/** How a trigger or condition on several devices counts them. */
export const Match = z.enum(['any', 'all', 'first', 'last', 'none']).meta({
  id: 'Match',
  description:
    'any (default): each; all: when all do; first: the first that does; last: the one that completes all; none: when none does any more',
});
/** See `Match` (the schema). */
export type Match = z.infer<typeof Match>;
