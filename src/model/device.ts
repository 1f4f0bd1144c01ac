// Devices: identity, what they declare, and the ids they go by.
import { z } from 'zod';
import {
  type AttributeDecl,
  CAPABILITIES,
  CAPABILITY_NAMES,
  type CapabilityName,
  type CommandDecl,
} from './capability.ts';

/** A thing with identity, as its backend describes it. */
export interface Device {
  /** `<backend>:<native id>`; opaque after the first colon. */
  readonly id: string;
  readonly name: string;
  readonly room?: string;
  readonly capabilities: readonly CapabilityName[];
  /** All attributes, canonical and native. */
  readonly attributes: Readonly<Record<string, AttributeDecl>>;
  /** All commands, canonical and native. */
  readonly commands: Readonly<Record<string, CommandDecl>>;
}

/** Reachability of a device or backend. */
export type Availability = 'online' | 'offline' | 'unknown';

/** A device id, or an alias of `house.yaml` in its place. */
export const DeviceRef = z
  .string()
  .min(1)
  .max(512)
  .meta({ id: 'DeviceRef', description: 'A device id (`hubitat:42`) or an alias of house.yaml (`attic-fan`)' });

/** The backend's id: what stands before the first colon. */
export const backendOf = (deviceId: string): string => {
  const colon = deviceId.indexOf(':');
  return colon < 0 ? '' : deviceId.slice(0, colon);
};

/** What stands after the first colon, as the backend knows the device. */
export const nativeIdOf = (deviceId: string): string => deviceId.slice(deviceId.indexOf(':') + 1);

/** A device whose attributes and commands are those of its capabilities, with further native ones beside them. */
export function deviceOf(
  base: { id: string; name: string; room?: string | undefined; capabilities: readonly CapabilityName[] },
  native: { attributes?: Record<string, AttributeDecl>; commands?: Record<string, CommandDecl> } = {},
): Device {
  const attributes: Record<string, AttributeDecl> = {};
  const commands: Record<string, CommandDecl> = {};
  for (const name of base.capabilities) {
    Object.assign(attributes, CAPABILITIES[name].attributes);
    // `off` of a switch that is also a siren must stay the switch's: the first capability named wins.
    for (const [command, declared] of Object.entries(CAPABILITIES[name].commands)) commands[command] ??= declared;
  }
  return {
    id: base.id,
    name: base.name,
    ...(base.room !== undefined && { room: base.room }),
    capabilities: base.capabilities,
    attributes: { ...attributes, ...native.attributes },
    commands: { ...commands, ...native.commands },
  };
}

/** A capability's name. */
export const CapabilitySchema = z.enum(CAPABILITY_NAMES).meta({ id: 'Capability' });
