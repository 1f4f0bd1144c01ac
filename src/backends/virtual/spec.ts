// Virtual devices as people and AI clients describe them, and as the store keeps them.
import { z } from 'zod';
import { Duration, durationMs } from '../../lib/duration.ts';
import type { Json } from '../../lib/json.ts';
import { CapabilitySchema, type Device, deviceOf } from '../../model/device.ts';

/** A native attribute beside those of the capabilities. */
const NativeAttribute = z
  .strictObject({
    type: z.enum(['number', 'enum', 'boolean', 'string', 'json']),
    values: z.array(z.string().min(1)).min(1).optional().meta({ description: 'The words of an enum' }),
    unit: z.string().optional(),
    step: z.number().positive().optional().meta({ description: 'The smallest difference that counts' }),
    min: z.number().optional(),
    max: z.number().optional(),
    momentary: z.boolean().optional().meta({ description: 'An event without state, such as a button press' }),
  })
  .refine(attribute => (attribute.type === 'enum') === (attribute.values !== undefined), {
    path: ['values'],
    error: 'an enum has values, other types have none',
  });

const AttributeName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_.-]{0,79}$/,
    'an attribute’s name has letters, digits, _, . and -, and begins with a letter',
  );

/** How a device answers a command: its effects come back after a while, or never (`none`). */
export const Echo = z
  .union([z.literal('none'), z.strictObject({ after: Duration })])
  .meta({ id: 'Echo', description: 'none, or { after }: how long after a command its effects are reported (50ms)' });

/** A virtual device to be made. */
export const VirtualSpec = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .meta({ description: 'With or without the backend before it; made of the name by default' }),
    name: z.string().trim().min(1).max(200),
    room: z.string().min(1).max(64).optional(),
    capabilities: z.array(CapabilitySchema).default([]),
    attributes: z.record(AttributeName, NativeAttribute).default({}),
    echo: Echo.optional(),
    values: z.record(z.string(), z.json()).default({}).meta({ description: 'What it reports at first' }),
  })
  .refine(spec => spec.capabilities.length > 0 || Object.keys(spec.attributes).length > 0, {
    path: ['capabilities'],
    error:
      'a device needs a capability or an attribute: capabilities: ["switch"], or attributes: { rain: { type: "number" } }',
  })
  .meta({
    id: 'VirtualDevice',
    examples: [{ name: 'Desk lamp', room: 'office', capabilities: ['switch', 'dimmer'] }],
  });
/** See `VirtualSpec` (the schema), before defaults are filled in. */
export type VirtualSpec = z.input<typeof VirtualSpec>;
/** A parsed spec. */
export type ParsedSpec = z.output<typeof VirtualSpec>;

const DEFAULT_ECHO_MS = 50;

/** Milliseconds until effects are reported; undefined when they never are. */
export function echoMs(echo: z.output<typeof Echo> | undefined): number | undefined {
  if (echo === 'none') return undefined;
  return echo === undefined ? DEFAULT_ECHO_MS : durationMs(echo.after);
}

/** The device that a spec describes. */
export const deviceFrom = (id: string, { name, room, capabilities, attributes }: ParsedSpec): Device =>
  deviceOf({ id, name, room, capabilities }, { attributes });

/** `Küche (Süd)` → `kuche-sud`; a name without Latin letters keeps its own. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  return slug || name.trim().replace(/\s+/g, '-');
}

/** Where virtual devices are kept: the store's table `virtual`, by device id. */
export interface VirtualRows {
  load(): ReadonlyMap<string, Json>;
  /** `undefined` removes. Values may be lost in a power cut (`lazy`), devices may not. */
  save(id: string, row: Json | undefined, durability: 'full' | 'lazy'): void;
}

/** Keeps nothing: simulations and tests. */
export const noRows: VirtualRows = { load: () => new Map(), save: () => {} };
