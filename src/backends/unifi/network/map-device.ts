// A device of the network (access point, switch, gateway, plug, strip, PDU) as a device: its state, its ports and outlets.
import type { AttributeDecl, CapabilityName, CommandDecl } from '../../../model/capability.ts';
import { type Device, deviceOf } from '../../../model/device.ts';
import type { Json } from '../../../model/value.ts';
import { type DeviceRow, type OutletRow, type PortRow, readOutlets, readPorts } from '../console/wire.ts';
import type { Counters } from '../counters.ts';
import { event, force, number, once, sets, takes, telemetry } from './declare.ts';
import type { Values } from './told.ts';

/** A device with what is needed to command it. */
export interface MappedDevice {
  readonly device: Device;
  readonly ports: readonly PortRow[];
  readonly outlets: readonly OutletRow[];
}

/** States that the console tells as numbers. */
const STATES: readonly string[] = [
  'offline',
  'online',
  'pending',
  'firmware mismatch',
  'updating',
  'provisioning',
  'heartbeat missed',
  'adopting',
  'deleting',
  'inform error',
  'adoption failed',
  'isolated',
];

const onOff: AttributeDecl = { type: 'enum', values: ['on', 'off'] };
const POE_MODES = ['auto', 'off', 'passthrough', '24v', 'pasv24'];
const LED = { name: 'mode', type: 'enum', values: ['on', 'off', 'default'] } as const;

const ATTRIBUTES: Readonly<Record<string, AttributeDecl>> = {
  state: { type: 'enum', values: STATES },
  model: { type: 'string' },
  version: { type: 'string' },
  ip: { type: 'string' },
  updateAvailable: { type: 'boolean' },
  updateVersion: { type: 'string' },
  locating: { type: 'boolean' },
  led: { type: 'enum', values: LED.values },
  overheating: { type: 'boolean' },
  uptime: telemetry('s'),
  cpu: telemetry('%', 2),
  memory: telemetry('%', 2),
  clients: telemetry(),
  satisfaction: telemetry('%', 2),
  offline: event,
  online: event,
  restarted: event,
  upgraded: event,
  portUp: event,
  portDown: event,
  poeChanged: event,
  poeOverload: event,
  poeDisconnected: event,
};

/** Nobody wants to see it blink for ever. */
const LOCATE_S = 60;
const COMMANDS: Readonly<Record<string, CommandDecl>> = {
  restart: once(),
  locate: {
    args: [{ name: 'seconds', ...number('s'), min: 1, max: 3_600, optional: true }],
    effects: [{ attribute: 'locating', value: true }],
    idempotent: true,
    opposes: 'stopLocating',
    ends: { after: 'seconds', command: 'stopLocating', otherwise: LOCATE_S },
  },
  stopLocating: sets('locating', false, [], 'locate'),
  setLed: takes('led', LED),
  upgrade: once([]),
};

/** Attributes and commands of a port. */
function portParts({ port_idx: index, port_poe: hasPoe }: PortRow) {
  const attributes: Record<string, AttributeDecl> = {
    [`port:${index}:link`]: { type: 'enum', values: ['up', 'down'] },
    [`port:${index}:speed`]: number('Mbit/s'),
    ...(hasPoe && {
      [`port:${index}:poe`]: { type: 'enum', values: POE_MODES },
      [`port:${index}:power`]: telemetry('W', 0.2),
    }),
  };
  const commands: Record<string, CommandDecl> = hasPoe
    ? {
        [`cyclePoe:${index}`]: once([force]),
        [`setPoe:${index}`]: takes(`port:${index}:poe`, { name: 'mode', type: 'enum', values: POE_MODES }, [force]),
      }
    : {};
  return { attributes, commands };
}

/** Attributes and commands of an outlet; the only one of a plug is its `switch`. */
function outletParts({ index, has_relay: hasRelay, outlet_power: power }: OutletRow, isOnly: boolean) {
  const attributes: Record<string, AttributeDecl> = {
    ...(!isOnly && { [`outlet:${index}:switch`]: onOff }),
    ...(power !== undefined && { [`outlet:${index}:power`]: telemetry('W', 0.2) }),
  };
  const commands: Record<string, CommandDecl> =
    isOnly || hasRelay === false
      ? {}
      : { [`setOutlet:${index}`]: takes(`outlet:${index}:switch`, { name: 'state', ...onOff }) };
  return { attributes, commands };
}

/** The device of a row. */
export function mapDevice(id: string, row: DeviceRow, counters: Counters): MappedDevice {
  const ports = row.port_table === undefined ? [] : readPorts(row.port_table, counters);
  const outlets = row.outlet_table === undefined ? [] : readOutlets(row.outlet_table, counters);
  const isPlug = outlets.length === 1;
  const parts = [...ports.map(portParts), ...outlets.map(outlet => outletParts(outlet, isPlug))];
  const capabilities: CapabilityName[] = [
    'connectivity',
    ...(isPlug ? (['switch'] as const) : []),
    ...(row.general_temperature === undefined ? [] : (['temperature'] as const)),
    ...(wattsOf(row, ports, outlets) === undefined ? [] : (['power'] as const)),
  ];
  const device = deviceOf(
    { id, name: row.name ?? row.model ?? row.mac, capabilities },
    {
      attributes: Object.assign({}, ATTRIBUTES, ...parts.map(({ attributes }) => attributes)),
      commands: Object.assign({}, COMMANDS, ...parts.map(({ commands }) => commands)),
    },
  );
  return { device, ports, outlets };
}

/** What it gives by PoE or through its outlets; undefined where it cannot measure. */
function wattsOf(row: DeviceRow, ports: readonly PortRow[], outlets: readonly OutletRow[]): number | undefined {
  if (row.outlet_ac_power_consumption !== undefined) return row.outlet_ac_power_consumption;
  const measured = [
    ...ports.filter(({ port_poe: hasPoe }) => hasPoe).map(({ poe_power: watts }) => watts),
    ...outlets.map(({ outlet_power: watts }) => watts),
  ].filter(watts => watts !== undefined);
  return measured.length === 0 ? undefined : Math.round(measured.reduce((sum, watts) => sum + watts, 0) * 100) / 100;
}

/** Whether the console hears of it: `heartbeat missed` (6) is the first sign that it does not. */
export const connectivityOf = (state: number | undefined): 'online' | 'offline' | undefined =>
  state === undefined ? undefined : [0, 6, 9].includes(state) ? 'offline' : 'online';

/** The values of a row; what it does not have stays as it is. */
export function deviceValues(row: DeviceRow, { ports, outlets }: MappedDevice): Values {
  const values: Record<string, Json | undefined> = {
    connectivity: connectivityOf(row.state),
    state: row.state === undefined ? undefined : STATES[row.state],
    model: row.model,
    version: row.version,
    ip: row.ip,
    updateAvailable: row.upgradable,
    updateVersion: row.upgradable === false ? null : row.upgrade_to_firmware,
    locating: row.locating,
    led: row.led_override,
    overheating: row.overheating,
    temperature: row.general_temperature,
    uptime: row.uptime,
    cpu: row['system-stats']?.cpu,
    memory: row['system-stats']?.mem,
    clients: row.num_sta,
    satisfaction: row.satisfaction,
    power: wattsOf(row, ports, outlets),
  };
  for (const { port_idx: index, up, speed, port_poe: hasPoe, poe_mode: mode, poe_power: watts } of ports) {
    values[`port:${index}:link`] = up === undefined ? undefined : up ? 'up' : 'down';
    values[`port:${index}:speed`] = up === false ? 0 : speed;
    if (!hasPoe) continue;
    values[`port:${index}:poe`] = mode;
    values[`port:${index}:power`] = watts;
  }
  for (const { index, relay_state: isOn, outlet_power: watts } of outlets) {
    const state = isOn === undefined ? undefined : isOn ? 'on' : 'off';
    values[outlets.length === 1 ? 'switch' : `outlet:${index}:switch`] = state;
    values[`outlet:${index}:power`] = watts;
  }
  return values;
}
