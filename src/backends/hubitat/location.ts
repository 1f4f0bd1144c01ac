// The hub itself as a device, `hubitat:location`: its mode, Hubitat Safety Monitor (HSM) and hub variables. What is
// switched off in the Maker API app is not declared.
import { CausewayError } from '../../lib/errors.ts';
import type { AttributeDecl, CommandDecl } from '../../model/capability.ts';
import type { Command } from '../../model/command.ts';
import type { Device } from '../../model/device.ts';
import type { Json } from '../../model/value.ts';
import { type HubClient, readIfThere } from './client.ts';
import { pathSegment } from './commands.ts';
import type { Counters } from './counters.ts';
import { type Reader, readerOf, readValue } from './values.ts';
import { type HubMode, type HubVariable, readHsm, readModes, readVariables } from './wire.ts';

/** What the hub is, beside its devices. */
export interface HubState {
  /** Undefined where modes are switched off in the Maker API app; so for the others. */
  readonly modes: readonly HubMode[] | undefined;
  readonly hsm: string | undefined;
  readonly variables: readonly HubVariable[] | undefined;
}

/** An attribute with its value. */
export type Told = readonly [attribute: string, value: Json];

/** Name of a hub variable's attribute, as the hub's own events call it. */
const variableAttribute = (name: string): string => `variable:${name}`;
const setterOf = (name: string): string => `setVariable:${name}`;

/** Status of HSM → what sets it. */
const ARM: Readonly<Record<string, string>> = {
  armedAway: 'armAway',
  armedHome: 'armHome',
  armedNight: 'armNight',
  disarmed: 'disarm',
  allDisarmed: 'disarmAll',
};
/** Commands of HSM that no one status stands for. */
const HSM_COMMANDS = ['armAll', 'armRules', 'disarmRules', 'cancelAlerts'];

const press: AttributeDecl = { type: 'string', momentary: true };
/** Events of the location that leave no state. */
const MOMENTARY: readonly string[] = ['hsmAlert', 'hsmRules', 'systemStart', 'sunrise', 'sunset'];

/** Asks for all that the Maker API lets us see. @throws as `HubClient.read` */
export async function readState(client: HubClient, counters: Counters): Promise<HubState> {
  const [modes, hsm, variables] = await Promise.all(
    ['/modes', '/hsm', '/hubvariables'].map(path => readIfThere(client, path)),
  );
  return {
    modes: Array.isArray(modes) ? readModes(modes, counters) : undefined,
    hsm: hsm === undefined ? undefined : readHsm(hsm),
    variables: Array.isArray(variables) ? readVariables(variables, counters) : undefined,
  };
}

/** How a variable's values are read. */
const variableReader = ({ type }: Pick<HubVariable, 'type'>, counters: Counters): Reader => {
  const { type: ours, form } = readerOf(type, counters);
  return { form, declared: { type: ours } };
};

/** How an attribute of the location is read. */
export function locationReader(attribute: string, { attributes }: Device, state: HubState, counters: Counters): Reader {
  const variable = state.variables?.find(({ name }) => variableAttribute(name) === attribute);
  if (variable) return variableReader(variable, counters);
  return { form: 'plain', declared: attributes[attribute] as AttributeDecl };
}

/** The device. */
export function locationDevice(backend: string, state: HubState, counters: Counters): Device {
  const attributes: Record<string, AttributeDecl> = {};
  const commands: Record<string, CommandDecl> = {};
  const { modes, hsm, variables } = state;
  if (modes) {
    const declared: AttributeDecl = { type: 'enum', values: modes.map(mode => mode.name) };
    attributes.mode = declared;
    commands.setMode = setter('mode', { name: 'mode', ...declared });
  }
  if (hsm !== undefined) {
    attributes.hsmStatus = { type: 'string' };
    commands.setHsm = {
      ...setter('hsmStatus', { name: 'status', type: 'enum', values: Object.keys(ARM) }),
      always: true,
    };
    for (const name of HSM_COMMANDS) commands[name] = { args: [], effects: [], idempotent: true, always: true };
  }
  for (const variable of variables ?? []) {
    const { declared } = variableReader(variable, counters);
    attributes[variableAttribute(variable.name)] = declared;
    commands[setterOf(variable.name)] = setter(variableAttribute(variable.name), { name: 'value', ...declared });
  }
  for (const name of MOMENTARY) attributes[name] = press;
  return { id: `${backend}:location`, name: 'Hub', capabilities: ['location'], attributes, commands };
}

const setter = (attribute: string, arg: CommandDecl['args'][number]): CommandDecl => ({
  args: [arg],
  effects: [{ attribute, fromArg: arg.name }],
  idempotent: true,
});

/** All values. */
export function locationValues({ modes, hsm, variables }: HubState, counters: Counters): Told[] {
  const mode = modes?.find(one => one.active);
  return [
    ...(mode ? [['mode', mode.name] as const] : []),
    ...(hsm !== undefined ? [['hsmStatus', hsm] as const] : []),
    ...(variables ?? []).map(variable => {
      const value = readValue(variableReader(variable, counters), variable.value, undefined, 'C', counters);
      return [variableAttribute(variable.name), value] as const;
    }),
  ];
}

/** The attribute that an event of the location is about; undefined for one that we do not follow (`ssdpTerm`). */
export function locationAttribute(name: string, { attributes }: Device): string | undefined {
  if (Object.hasOwn(attributes, name)) return name;
  // The Hub Variable API says `variable:<name>`; the bare name was seen as well.
  const variable = variableAttribute(name);
  return Object.hasOwn(attributes, variable) ? variable : undefined;
}

/**
 * Carries a command to the location out.
 * @returns what the hub answered that it is now, for hubs that do not send the location's events
 * @throws as `HubClient.ask`, MODE_UNKNOWN, ARGUMENT_INVALID
 */
export async function commandLocation(
  client: HubClient,
  { modes }: HubState,
  { command, args }: Command,
  counters: Counters,
  signal: AbortSignal,
): Promise<Told[]> {
  const ask = (path: string) => client.lanes.run('location', signal, () => client.ask(path, { again: true, signal }));
  if (command === 'setMode') {
    const mode = modes?.find(one => one.name === args.mode);
    if (!mode) {
      throw new CausewayError('MODE_UNKNOWN', `the hub has no mode "${String(args.mode)}"`, {
        hint: `it has ${(modes ?? []).map(one => one.name).join(', ')}`,
      });
    }
    const answer = await ask(`/modes/${encodeURIComponent(mode.id)}`);
    const now = Array.isArray(answer) ? readModes(answer, counters).find(one => one.active) : undefined;
    return now ? [['mode', now.name]] : [];
  }
  if (command.startsWith('setVariable:')) {
    const name = command.slice('setVariable:'.length);
    const value = pathSegment([textOf(args.value)]);
    const answer = await ask(`/hubvariables/${encodeURIComponent(name)}/${value}`);
    const [now] = answer === null ? [] : readVariables(answer, counters);
    if (now?.name !== name) return [];
    return [[variableAttribute(name), readValue(variableReader(now, counters), now.value, undefined, 'C', counters)]];
  }
  const word = command === 'setHsm' ? ARM[String(args.status)] : command;
  // Its answer is the status from before.
  await ask(`/hsm/${encodeURIComponent(word ?? '')}`);
  return [];
}

const textOf = (value: Json | undefined): string =>
  value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');
