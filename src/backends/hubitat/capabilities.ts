// Hubitat's capabilities (docs2.hubitat.com, "Driver Capability List"): which of them are canonical ones, and what the
// commands of the others do. Commands that stand neither here nor in the canonical table belong to a driver alone.
import {
  type ArgumentDecl,
  CAPABILITIES,
  type CapabilityName,
  type CommandDecl,
  type Effect,
} from '../../model/capability.ts';
import type { ValueType } from '../../model/value.ts';

/** Hubitat's name → ours. */
export const CANONICAL: Readonly<Record<string, CapabilityName>> = {
  Switch: 'switch',
  Bulb: 'switch',
  Light: 'switch',
  Outlet: 'switch',
  RelaySwitch: 'switch',
  SwitchLevel: 'dimmer',
  ColorControl: 'color',
  ColorTemperature: 'color_temperature',
  MotionSensor: 'motion',
  ContactSensor: 'contact',
  PresenceSensor: 'presence',
  Lock: 'lock',
  WindowShade: 'cover',
  WindowBlind: 'cover',
  GarageDoorControl: 'garage_door',
  DoorControl: 'garage_door',
  Valve: 'valve',
  FanControl: 'fan',
  Thermostat: 'thermostat',
  TemperatureMeasurement: 'temperature',
  RelativeHumidityMeasurement: 'humidity',
  IlluminanceMeasurement: 'illuminance',
  WaterSensor: 'leak',
  SmokeDetector: 'smoke',
  PowerMeter: 'power',
  EnergyMeter: 'energy',
  Battery: 'battery',
  PushableButton: 'button',
  HoldableButton: 'button',
  DoubleTapableButton: 'button',
  ReleasableButton: 'button',
  Notification: 'notification',
  SpeechSynthesis: 'speech',
  Alarm: 'siren',
};

/** Attributes that are temperatures, whether the hub tells a unit or not. */
export const TEMPERATURES: readonly string[] = [
  'temperature',
  'heatingSetpoint',
  'coolingSetpoint',
  'thermostatSetpoint',
];

/** Native attributes that chatter: the journal keeps few of them. */
export const TELEMETRY: readonly string[] = ['rssi', 'lqi', 'voltage', 'amperage', 'frequency'];

const percent: ValueType = { type: 'number', unit: '%', min: 0, max: 100 };
const number: ValueType = { type: 'number' };
const words = (...values: string[]): ValueType => ({ type: 'enum', values });
const arg = (name: string, type: ValueType, optional = false): ArgumentDecl => ({
  name,
  ...type,
  ...(optional && { optional }),
});
const once = (args: ArgumentDecl[] = [], effects: Effect[] = []): CommandDecl => ({ args, effects, idempotent: false });
const again = (args: ArgumentDecl[] = [], effects: Effect[] = []): CommandDecl => ({ args, effects, idempotent: true });
const makes = (attribute: string, value: string): CommandDecl => again([], [{ attribute, value }]);

const direction = arg('direction', words('up', 'down'));
/** The canonical ones of a thermostat, also for devices that are only a part of one, such as a radiator valve. */
const ofThermostat = (...names: string[]): Record<string, CommandDecl> =>
  Object.fromEntries(names.map(name => [name, CAPABILITIES.thermostat.commands[name] as CommandDecl]));
const thermostat = {
  auto: makes('thermostatMode', 'auto'),
  cool: makes('thermostatMode', 'cool'),
  heat: makes('thermostatMode', 'heat'),
  off: makes('thermostatMode', 'off'),
  emergencyHeat: makes('thermostatMode', 'emergency heat'),
  fanAuto: makes('thermostatFanMode', 'auto'),
  fanOn: makes('thermostatFanMode', 'on'),
  fanCirculate: makes('thermostatFanMode', 'circulate'),
};

/** Commands beside the canonical ones, by Hubitat's capability; the canonical one of a name goes first. */
export const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandDecl>>>> = {
  Refresh: { refresh: again() },
  Polling: { poll: again() },
  HealthCheck: { ping: again() },
  Configuration: { configure: again() },
  Initialize: { initialize: again() },
  Flash: { flash: once([arg('rate', number, true)]) },
  ChangeLevel: { startLevelChange: once([direction]), stopLevelChange: again() },
  ColorControl: {
    setHue: again([arg('hue', percent)], [{ attribute: 'hue', fromArg: 'hue' }]),
    setSaturation: again([arg('saturation', percent)], [{ attribute: 'saturation', fromArg: 'saturation' }]),
  },
  WindowShade: {
    startPositionChange: once([arg('direction', words('open', 'close'))]),
    stopPositionChange: again([], [{ attribute: 'windowShade', unknown: true }]),
  },
  WindowBlind: { setTiltLevel: again([arg('tilt', percent)], [{ attribute: 'tilt', fromArg: 'tilt' }]) },
  FanControl: { cycleSpeed: once([], [{ attribute: 'speed', unknown: true }]) },
  Thermostat: thermostat,
  ThermostatMode: { ...thermostat, ...ofThermostat('setThermostatMode') },
  ThermostatFanMode: { ...thermostat, ...ofThermostat('setThermostatFanMode') },
  ThermostatHeatingSetpoint: ofThermostat('setHeatingSetpoint'),
  ThermostatCoolingSetpoint: ofThermostat('setCoolingSetpoint'),
  AudioVolume: {
    setVolume: again([arg('volume', percent)], [{ attribute: 'volume', fromArg: 'volume' }]),
    mute: makes('mute', 'muted'),
    unmute: makes('mute', 'unmuted'),
    volumeUp: once([], [{ attribute: 'volume', unknown: true }]),
    volumeDown: once([], [{ attribute: 'volume', unknown: true }]),
  },
  DoubleTapableButton: {
    doubleTap: once([arg('button', number)], [{ attribute: 'doubleTapped', fromArg: 'button' }]),
  },
  ReleasableButton: { release: once([arg('button', number)], [{ attribute: 'released', fromArg: 'button' }]) },
  Momentary: { push: once() },
  Tone: { beep: once() },
  MediaTransport: { play: again(), pause: again(), stop: again() },
};
