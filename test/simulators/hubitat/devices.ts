// Devices of the simulated hub: what they declare, and what a command makes of them.

/** An attribute, with its value as the driver keeps it. */
export interface SimAttribute {
  readonly name: string;
  readonly dataType: string;
  readonly values?: readonly string[];
  readonly unit?: string;
  value: string | number | boolean | null;
}

/** A command, with the types of its arguments. */
export interface SimCommand {
  readonly name: string;
  readonly types?: readonly string[];
}

/** A device. */
export interface SimDevice {
  readonly id: number;
  label: string;
  /** Name of the driver. */
  driver: string;
  room?: string;
  capabilities: string[];
  attributes: SimAttribute[];
  commands: SimCommand[];
  /** Its driver declares the types of its arguments, and throws when a number comes as text. */
  isTyped?: boolean;
}

const words = (name: string, values: string[], value: string | null = null): SimAttribute => ({
  name,
  dataType: 'ENUM',
  values,
  value,
});
const number = (name: string, value: number | null = null, unit?: string): SimAttribute => ({
  name,
  dataType: 'NUMBER',
  value,
  ...(unit !== undefined && { unit }),
});
const named = (...names: string[]): SimCommand[] => names.map(name => ({ name }));

type Base = { id: number; label: string; room?: string };

/** A switch, told twice over as an outlet, as some drivers do. */
export const simOutlet = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Outlet',
  capabilities: ['Switch', 'Outlet', 'Configuration', 'Refresh'],
  attributes: [words('switch', ['on', 'off'], 'off'), words('switch', ['on', 'off'], 'off'), number('power', 0, 'W')],
  commands: named('configure', 'off', 'off', 'on', 'on', 'refresh'),
});

/** A colour lamp. */
const simLamp = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Colour Lamp',
  capabilities: ['Switch', 'SwitchLevel', 'ColorControl', 'ColorTemperature', 'ChangeLevel', 'Flash'],
  attributes: [
    words('switch', ['on', 'off'], 'off'),
    number('level', 40, '%'),
    number('hue', 10),
    number('saturation', 20),
    number('colorTemperature', 2700, '°K'),
    words('colorMode', ['CT', 'RGB'], 'CT'),
  ],
  commands: [
    ...named('on', 'off', 'stopLevelChange'),
    { name: 'setLevel', types: ['NUMBER', 'NUMBER'] },
    { name: 'setColor', types: ['COLOR_MAP'] },
    { name: 'setColorTemperature', types: ['NUMBER', 'NUMBER', 'NUMBER'] },
    { name: 'startLevelChange', types: ['ENUM'] },
    { name: 'flash', types: ['NUMBER'] },
  ],
});

/** A door contact with a thermometer that tells no unit in the device list. */
const simSensor = (base: Base, temperature: number): SimDevice => ({
  ...base,
  driver: 'Simulated Sensor',
  capabilities: ['ContactSensor', 'TemperatureMeasurement', 'Battery', 'TamperAlert', 'Sensor'],
  attributes: [
    words('contact', ['closed', 'open'], 'closed'),
    number('temperature', temperature),
    number('battery', 87, '%'),
    words('tamper', ['clear', 'detected'], 'clear'),
  ],
  commands: named('configure'),
});

/** A wall remote. */
const simRemote = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Remote',
  capabilities: ['PushableButton', 'HoldableButton', 'DoubleTapableButton'],
  attributes: [number('pushed', 1), number('held'), number('doubleTapped'), number('numberOfButtons', 4)],
  commands: [
    { name: 'push', types: ['NUMBER'] },
    { name: 'hold', types: ['NUMBER'] },
    { name: 'doubleTap', types: ['NUMBER'] },
  ],
});

/** A thermostat with a mode of its own. */
const simThermostat = (base: Base, setpoint: number): SimDevice => ({
  ...base,
  driver: 'Simulated Thermostat',
  capabilities: ['Thermostat', 'TemperatureMeasurement'],
  attributes: [
    number('temperature', setpoint - 1),
    number('heatingSetpoint', setpoint),
    number('coolingSetpoint', setpoint + 8),
    words('thermostatMode', ['auto', 'off', 'heat', 'cool', 'eco'], 'heat'),
    words('thermostatFanMode', ['auto', 'on'], 'auto'),
    { name: 'thermostatOperatingState', dataType: 'STRING', value: 'idle' },
  ],
  commands: [
    ...named('auto', 'off', 'heat', 'cool', 'fanAuto', 'fanOn'),
    { name: 'setThermostatMode', types: ['ENUM'] },
    { name: 'setHeatingSetpoint', types: ['NUMBER'] },
    { name: 'setCoolingSetpoint', types: ['NUMBER'] },
  ],
});

/** A lock, of which the hub may not know whether it is locked. */
const simLock = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Lock',
  capabilities: ['Lock', 'Battery'],
  attributes: [
    words('lock', ['locked', 'unlocked', 'unlocked with timeout', 'unknown'], 'locked'),
    number('battery', 60, '%'),
  ],
  commands: named('lock', 'unlock'),
});

/** A shade, whose stop has another name. */
const simShade = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Shade',
  capabilities: ['WindowShade'],
  attributes: [
    words('windowShade', ['opening', 'partially open', 'closed', 'open', 'closing', 'unknown'], 'closed'),
    number('position', 0, '%'),
  ],
  commands: [
    ...named('open', 'close', 'stopPositionChange'),
    { name: 'setPosition', types: ['NUMBER'] },
    { name: 'startPositionChange', types: ['ENUM'] },
  ],
});

/** Something with all the odd data types, and a typed command of its driver's own. */
const simGadget = (base: Base): SimDevice => ({
  ...base,
  driver: 'Simulated Gadget',
  capabilities: ['Notification', 'Actuator', 'Initialize'],
  isTyped: true,
  attributes: [
    { name: 'threeAxis', dataType: 'VECTOR3', value: '[x:2,y:-4,z:1.5]' },
    { name: 'range', dataType: 'VECTOR3', value: '[42.5,24]' },
    { name: 'details', dataType: 'JSON_OBJECT', value: '{"a":[1,2]}' },
    { name: 'armed', dataType: 'BOOL', value: 'true' },
    { name: 'since', dataType: 'DATE', value: '2026-03-03T14:20:00+0000' },
    { name: 'effect', dataType: 'DYNAMIC_ENUM', value: 'rainbow' },
    { name: 'wonder', dataType: 'QUATERNION', value: '1 2 3 4' },
    { name: 'count', dataType: 'NUMBER', value: 3 },
  ],
  commands: [
    ...named('initialize', 'blink'),
    { name: 'deviceNotification', types: ['STRING'] },
    { name: 'setCount', types: ['NUMBER'] },
  ],
});

/** Very many devices of a few drivers. */
export const simMany = (devices: number, attributes: number): SimDevice[] =>
  Array.from({ length: devices }, (_, i) => ({
    id: 1_000 + i,
    label: `Device ${i}`,
    room: `Room ${i % 12}`,
    driver: `Simulated Driver ${i % 30}`,
    capabilities: ['Switch', 'TemperatureMeasurement'],
    attributes: Array.from({ length: attributes }, (_, k): SimAttribute => {
      if (k === 0) return words('switch', ['on', 'off'], 'off');
      if (k === 1) return number('temperature', 20, '°C');
      return k % 2 ? number(`measure${k}`, i + k) : { name: `text${k}`, dataType: 'STRING', value: `value ${i}` };
    }),
    commands: [...named('on', 'off', 'refresh'), { name: 'tune', types: ['NUMBER', 'STRING'] }],
  }));

/** What a command makes of a device: attributes with their new values. Unknown commands change nothing. */
export function simEffects(device: SimDevice, command: string, args: readonly unknown[]): [string, string | number][] {
  const [first] = args;
  const n = Number(first);
  const has = (name: string) => device.attributes.some(attribute => attribute.name === name);
  const cover = has('windowShade') ? 'windowShade' : has('door') ? 'door' : 'valve';
  switch (command) {
    case 'on':
    case 'off':
      return has('switch') ? [['switch', command]] : [['thermostatMode', command]];
    case 'setLevel':
      return [
        ['level', n],
        ['switch', n > 0 ? 'on' : 'off'],
      ];
    case 'setColor':
      return Object.entries(first as Record<string, number>).filter(([name]) => has(name));
    case 'setColorTemperature':
      return [['colorTemperature', n]];
    case 'lock':
      return [['lock', 'locked']];
    case 'unlock':
      return [['lock', 'unlocked']];
    case 'open':
      return [[cover, 'open']];
    case 'close':
      return [[cover, 'closed']];
    case 'stopPositionChange':
      return [[cover, 'partially open']];
    case 'setPosition':
      return [['position', n]];
    case 'setThermostatMode':
      return [['thermostatMode', String(first)]];
    case 'setHeatingSetpoint':
      // Thermostats keep whole degrees.
      return [['heatingSetpoint', Math.round(n)]];
    case 'setCoolingSetpoint':
      return [['coolingSetpoint', Math.round(n)]];
    case 'setCount':
      return [['count', n]];
    case 'push':
      return [['pushed', n]];
    case 'hold':
      return [['held', n]];
    case 'doubleTap':
      return [['doubleTapped', n]];
    default:
      return [];
  }
}

/** A small house. */
export const simHouse = (): SimDevice[] => [
  simOutlet({ id: 1, label: 'Loft Fan', room: 'Loft' }),
  simLamp({ id: 2, label: 'Hall Lamp', room: 'Hall' }),
  simSensor({ id: 3, label: 'Office Door', room: 'Office' }, 21.5),
  simRemote({ id: 4, label: 'Bedside Remote', room: 'Bedroom' }),
  simThermostat({ id: 5, label: 'Living Room Thermostat', room: 'Living Room' }, 20),
  simLock({ id: 6, label: 'Front Door' }),
  simShade({ id: 7, label: 'Kitchen Shade', room: 'Kitchen' }),
  simGadget({ id: 8, label: 'Gadget' }),
];
