// THE table of capabilities: attributes, commands and what a command makes of an attribute. Names and values follow
// Hubitat's public capability list (docs2.hubitat.com, "Driver Capability List"). Everything that must know what a
// command does asks this table: no-op check, expectations, simulation, idempotency after a crash, the static graph.
import type { Json, ValueType } from './value.ts';

/** An attribute as a capability or a device declares it. */
export interface AttributeDecl extends ValueType {
  /** A momentary event without state (a button press): never "changed", never retained, never restored. */
  readonly momentary?: boolean;
  /** Counters, signal strength, power: the journal keeps one a minute, and only if changed. */
  readonly telemetry?: boolean;
  /** What the system itself says it is for (ioBroker: `level.dimmer`). */
  readonly role?: string;
}

/** What a command makes of an attribute. */
export type Effect = { attribute: string } & ({ value: Json } | { fromArg: string } | { unknown: true });

/** An argument of a command. */
export interface ArgumentDecl extends ValueType {
  readonly name: string;
  readonly optional?: boolean;
}

/** A command as a capability or a device declares it. */
export interface CommandDecl {
  readonly args: readonly ArgumentDecl[];
  readonly effects: readonly Effect[];
  /** Sending it twice is the same as once; only such a command is ever sent again after a crash or by a retry. */
  readonly idempotent: boolean;
  /** The command that undoes it. */
  readonly opposes?: string;
  /** Sent even when it seems to change nothing (locks, alarms, covers). */
  readonly always?: boolean;
  /**
   * It ends by itself: after as long as its argument `after` says (in the argument's unit: s, min or h), or else as
   * `otherwise` does, `command` is sent with those arguments that both have. With neither it lasts.
   */
  readonly ends?: { readonly after: string; readonly command: string; readonly otherwise?: number };
  /**
   * What it is about, where commands to several devices, or with arguments that are written otherwise, are about one thing:
   * `client {mac}`, in which `{mac}` stands for an argument, whatever its case. The last word about a thing counts.
   */
  readonly about?: string;
}

/** A row of the table. */
export interface Capability {
  readonly attributes: Readonly<Record<string, AttributeDecl>>;
  readonly commands: Readonly<Record<string, CommandDecl>>;
}

const oneOf = (...values: string[]): AttributeDecl => ({ type: 'enum', values });
const number = (unit?: string, extra: Partial<AttributeDecl> = {}): AttributeDecl => ({
  type: 'number',
  ...(unit !== undefined && { unit }),
  ...extra,
});
const percent: AttributeDecl = { type: 'number', unit: '%', min: 0, max: 100 };
const press: AttributeDecl = { type: 'number', momentary: true };

/** A command that sets one attribute to a word. */
const sets = (attribute: string, value: string, opposes?: string, always = false): CommandDecl => ({
  args: [],
  effects: [{ attribute, value }],
  idempotent: true,
  ...(opposes !== undefined && { opposes }),
  ...(always && { always }),
});
/** A command whose arguments become attributes of the same names. */
const takes = (args: readonly ArgumentDecl[], effects: readonly Effect[], always = false): CommandDecl => ({
  args,
  effects,
  idempotent: true,
  ...(always && { always }),
});
const once = (args: readonly ArgumentDecl[], effects: readonly Effect[] = []): CommandDecl => ({
  args,
  effects,
  idempotent: false,
});
const arg = (name: string, type: ValueType, optional = false): ArgumentDecl => ({
  name,
  ...type,
  ...(optional && { optional }),
});
const mirror = (...attributes: string[]): Effect[] => attributes.map(attribute => ({ attribute, fromArg: attribute }));

const seconds: ValueType = { type: 'number', unit: 's', min: 0 };
const celsius: ValueType = { type: 'number', unit: '°C' };
const SPEEDS = oneOf('off', 'low', 'medium-low', 'medium', 'medium-high', 'high', 'on', 'auto');
const THERMOSTAT_MODES = oneOf('auto', 'cool', 'heat', 'off', 'emergency heat');
const FAN_MODES = oneOf('auto', 'on', 'circulate');
const text: ValueType = { type: 'string' };

const table = {
  switch: {
    attributes: { switch: oneOf('on', 'off') },
    commands: {
      on: sets('switch', 'on', 'off'),
      off: sets('switch', 'off', 'on'),
      toggle: once([], [{ attribute: 'switch', unknown: true }]),
    },
  },
  dimmer: {
    attributes: { level: percent },
    commands: { setLevel: takes([arg('level', percent), arg('duration', seconds, true)], mirror('level')) },
  },
  color: {
    attributes: { hue: percent, saturation: percent },
    commands: {
      setColor: takes(
        [arg('hue', percent), arg('saturation', percent), arg('level', percent, true)],
        mirror('hue', 'saturation', 'level'),
      ),
    },
  },
  color_temperature: {
    attributes: { colorTemperature: number('K') },
    commands: {
      setColorTemperature: takes(
        [arg('colorTemperature', number('K', { min: 1 })), arg('level', percent, true)],
        mirror('colorTemperature', 'level'),
      ),
    },
  },
  motion: { attributes: { motion: oneOf('active', 'inactive') }, commands: {} },
  contact: { attributes: { contact: oneOf('open', 'closed') }, commands: {} },
  presence: { attributes: { presence: oneOf('present', 'not present') }, commands: {} },
  lock: {
    attributes: { lock: oneOf('locked', 'unlocked') },
    commands: { lock: sets('lock', 'locked', 'unlock', true), unlock: sets('lock', 'unlocked', 'lock', true) },
  },
  cover: {
    attributes: {
      windowShade: oneOf('open', 'closed', 'opening', 'closing', 'partially open'),
      position: percent,
    },
    commands: {
      open: sets('windowShade', 'open', 'close', true),
      close: sets('windowShade', 'closed', 'open', true),
      stop: takes([], [{ attribute: 'windowShade', unknown: true }], true),
      setPosition: takes([arg('position', percent)], mirror('position'), true),
    },
  },
  garage_door: {
    attributes: { door: oneOf('open', 'closed', 'opening', 'closing') },
    commands: { open: sets('door', 'open', 'close', true), close: sets('door', 'closed', 'open', true) },
  },
  valve: {
    attributes: { valve: oneOf('open', 'closed') },
    commands: { open: sets('valve', 'open', 'close'), close: sets('valve', 'closed', 'open') },
  },
  fan: {
    attributes: { speed: SPEEDS },
    commands: { setSpeed: takes([arg('speed', SPEEDS)], mirror('speed')) },
  },
  thermostat: {
    attributes: {
      thermostatMode: THERMOSTAT_MODES,
      heatingSetpoint: number('°C'),
      coolingSetpoint: number('°C'),
      thermostatOperatingState: { type: 'string' },
      thermostatFanMode: FAN_MODES,
    },
    commands: {
      setThermostatMode: takes([arg('mode', THERMOSTAT_MODES)], [{ attribute: 'thermostatMode', fromArg: 'mode' }]),
      setHeatingSetpoint: takes(
        [arg('temperature', celsius)],
        [{ attribute: 'heatingSetpoint', fromArg: 'temperature' }],
      ),
      setCoolingSetpoint: takes(
        [arg('temperature', celsius)],
        [{ attribute: 'coolingSetpoint', fromArg: 'temperature' }],
      ),
      setThermostatFanMode: takes([arg('mode', FAN_MODES)], [{ attribute: 'thermostatFanMode', fromArg: 'mode' }]),
    },
  },
  temperature: { attributes: { temperature: number('°C') }, commands: {} },
  humidity: { attributes: { humidity: number('%') }, commands: {} },
  illuminance: { attributes: { illuminance: number('lx') }, commands: {} },
  leak: { attributes: { water: oneOf('wet', 'dry') }, commands: {} },
  smoke: { attributes: { smoke: oneOf('clear', 'detected', 'tested') }, commands: {} },
  power: { attributes: { power: number('W', { telemetry: true }) }, commands: {} },
  energy: { attributes: { energy: number('kWh', { telemetry: true }) }, commands: {} },
  battery: { attributes: { battery: number('%') }, commands: {} },
  button: {
    attributes: { pushed: press, held: press, doubleTapped: press, released: press },
    commands: {
      push: once([arg('button', number())], [{ attribute: 'pushed', fromArg: 'button' }]),
      hold: once([arg('button', number())], [{ attribute: 'held', fromArg: 'button' }]),
    },
  },
  notification: { attributes: {}, commands: { deviceNotification: once([arg('text', text)]) } },
  speech: { attributes: {}, commands: { speak: once([arg('text', text), arg('volume', percent, true)]) } },
  siren: {
    attributes: { alarm: oneOf('off', 'siren', 'strobe', 'both') },
    commands: {
      off: sets('alarm', 'off', 'siren', true),
      siren: sets('alarm', 'siren', 'off', true),
      strobe: sets('alarm', 'strobe', 'off', true),
      both: sets('alarm', 'both', 'off', true),
    },
  },
  camera: { attributes: { recording: { type: 'boolean' } }, commands: {} },
  connectivity: { attributes: { connectivity: oneOf('online', 'offline') }, commands: {} },
  location: {
    attributes: { mode: { type: 'string' }, hsmStatus: { type: 'string' } },
    commands: {
      setMode: takes([arg('mode', text)], mirror('mode')),
      setHsm: takes([arg('status', text)], [{ attribute: 'hsmStatus', fromArg: 'status' }], true),
    },
  },
} as const satisfies Record<string, Capability>;

/** A name of the table. */
export type CapabilityName = keyof typeof table;

/** The table by name. */
export const CAPABILITIES: Readonly<Record<CapabilityName, Capability>> = table;

/** All names, in the order of the table. */
export const CAPABILITY_NAMES = Object.keys(table) as [CapabilityName, ...CapabilityName[]];

/** The capability that an attribute of this name belongs to, if it is one of the table's. */
export const capabilityOfAttribute = (attribute: string): CapabilityName | undefined =>
  CAPABILITY_NAMES.find(name => Object.hasOwn(CAPABILITIES[name].attributes, attribute));

/** The capabilities that have a command of this name (`off` belongs to switch and siren). */
export const capabilitiesOfCommand = (command: string): CapabilityName[] =>
  CAPABILITY_NAMES.filter(name => Object.hasOwn(CAPABILITIES[name].commands, command));
