// A command of ours as a call to the hub.
import { CausewayError } from '../../lib/errors.ts';
import type { CommandDecl } from '../../model/capability.ts';
import type { Command } from '../../model/command.ts';
import type { Json } from '../../model/value.ts';
import type { Asking, HubClient } from './client.ts';
import type { Mapped } from './map.ts';
import type { HubArgument, RunMethod } from './runmethod.ts';
import { fahrenheitOf, type Scale } from './values.ts';

/** A native command with its arguments in order. */
export interface HubCall {
  readonly command: string;
  readonly args: readonly HubArgument[];
}

/** What a command is called at the hub. `toggle` of a hub's switch is none: see `carryOut`. @throws ARGUMENT_INVALID */
export function callOf(mapped: Mapped, command: Command, declared: CommandDecl, scale: Scale): HubCall {
  const { command: name, args } = command;
  if (name === 'setColor' && declared.args.some(arg => arg.name === 'hue')) {
    return { command: name, args: [{ type: 'JSON_OBJECT', value: args }] };
  }
  const native = name === 'stop' && !mapped.native.has('stop') ? 'stopPositionChange' : name;
  return { command: native, args: inOrder(declared, args, name).map(arg => typed(arg, scale)) };
}

interface Placed {
  readonly value: Json;
  readonly unit: string | undefined;
}

/** The hub knows arguments by position: what is left out must be the last. */
function inOrder(declared: CommandDecl, args: Readonly<Record<string, Json>>, command: string): Placed[] {
  const placed: Placed[] = [];
  let gap: string | undefined;
  for (const { name, unit } of declared.args) {
    const value = args[name];
    if (value === undefined) gap ??= name;
    else if (gap === undefined) placed.push({ value, unit });
    else {
      throw new CausewayError('ARGUMENT_INVALID', `${command}: ${name} is given and ${gap} before it is not`, {
        path: gap,
        hint: `give ${gap} too, or leave ${name} out`,
      });
    }
  }
  return placed;
}

function typed({ value, unit }: Placed, scale: Scale): HubArgument {
  if (typeof value === 'number') {
    return { type: 'NUMBER', value: unit === '°C' && scale === 'F' ? fahrenheitOf(value) : value };
  }
  return typeof value === 'string' ? { type: 'STRING', value } : { type: 'JSON_OBJECT', value };
}

/** The path of a call in the Maker API: several arguments are one segment, with commas. */
export function pathOf(device: string, { command, args }: HubCall): string {
  const path = `/devices/${encodeURIComponent(device)}/${encodeURIComponent(command)}`;
  if (args.length === 0) return path;
  const texts = args.map(({ type, value }) => (type === 'JSON_OBJECT' ? JSON.stringify(value) : String(value)));
  return `${path}/${pathSegment(texts)}`;
}

/** Words of a path that mean another path (RFC 3986, 5.2.4), however they are encoded. */
const NO_SEGMENT: readonly string[] = ['', '.', '..'];

/** Texts as the last part of a path of the Maker API. @throws ARGUMENT_INVALID for one that a path cannot hold */
export function pathSegment(texts: readonly string[]): string {
  const segment = texts.map(encodeURIComponent).join(',');
  if (!NO_SEGMENT.includes(segment)) return segment;
  const shown = segment === '' ? 'an empty text' : `the text "${segment}"`;
  throw new CausewayError('ARGUMENT_INVALID', `${shown} cannot be sent over the Maker API`, {
    hint: 'send another text, of which more is left in an address: with a letter, a digit or a blank',
  });
}

/** What carrying out needs. */
export interface Way {
  readonly client: HubClient;
  readonly runMethod: RunMethod;
  readonly scale: Scale;
}

/** Carries a command to a device out. @throws as `HubClient.ask`, ARGUMENT_INVALID */
export function carryOut(way: Way, mapped: Mapped, command: Command, signal: AbortSignal): Promise<void> {
  const declared = mapped.device.commands[command.command] as CommandDecl;
  const asking: Asking = { again: declared.idempotent, signal };
  // One lane a device: what was sent first arrives first.
  return way.client.lanes.run(mapped.nativeId, signal, async () => {
    const isMadeUp = command.command === 'toggle' && !mapped.native.has('toggle');
    const call = isMadeUp ? await toggled(way, mapped, signal) : callOf(mapped, command, declared, way.scale);
    // Only plain arguments gain by the internal way; without any, and for JSON, the Maker API is the documented one.
    const gains = call.args.length > 0 && call.args.every(({ type }) => type !== 'JSON_OBJECT');
    if (gains && (await way.runMethod.run(mapped.nativeId, call.command, call.args, asking))) return;
    await way.client.ask(pathOf(mapped.nativeId, call), asking);
  });
}

/** The hub's switches have no toggle: it is the opposite of what the hub knows now. */
async function toggled({ client }: Way, { nativeId, device }: Mapped, signal: AbortSignal): Promise<HubCall> {
  const path = `/devices/${encodeURIComponent(nativeId)}/attribute/switch`;
  const answer = await client.ask(path, { again: true, signal }).catch(error => {
    // Nothing was sent yet, so a lost answer leaves no doubt.
    throw new CausewayError('BACKEND_OFFLINE', `it cannot be told whether ${device.id} is on`, { cause: error });
  });
  const isOn = (answer as { value?: Json } | null)?.value === 'on';
  return { command: isOn ? 'off' : 'on', args: [] };
}
