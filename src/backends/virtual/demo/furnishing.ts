// The demo house as it stands: its devices, and the house.yaml that goes with them.
import { houseSchema } from '../../../config/house.ts';
import type { Json } from '../../../lib/json.ts';
import { Target } from '../../../model/target.ts';
import type { VirtualSpec } from '../spec.ts';

/** How everything stands at midnight, when all are at home and asleep. The story of each day begins and ends with it. */
const DEVICES: readonly (VirtualSpec & { id: string })[] = [
  {
    id: 'living-lamp',
    name: 'Living room lamp',
    room: 'Living room',
    capabilities: ['switch', 'dimmer', 'color_temperature'],
    values: { switch: 'off', level: 70, colorTemperature: 2700 },
  },
  {
    id: 'living-blind',
    name: 'Living room blind',
    room: 'Living room',
    capabilities: ['cover'],
    values: { windowShade: 'closed', position: 0 },
  },
  {
    id: 'thermostat',
    name: 'Thermostat',
    room: 'Living room',
    capabilities: ['thermostat', 'temperature', 'humidity'],
    values: {
      thermostatMode: 'heat',
      heatingSetpoint: 20.5,
      thermostatOperatingState: 'idle',
      thermostatFanMode: 'auto',
    },
  },
  {
    id: 'dishwasher',
    name: 'Dishwasher',
    room: 'Kitchen',
    capabilities: ['switch', 'power'],
    values: { switch: 'on', power: 1 },
  },
  {
    id: 'kitchen-window',
    name: 'Kitchen window',
    room: 'Kitchen',
    capabilities: ['contact'],
    values: { contact: 'closed' },
  },
  {
    id: 'sink-leak',
    name: 'Leak sensor at the sink',
    room: 'Kitchen',
    capabilities: ['leak'],
    values: { water: 'dry' },
  },
  { id: 'kitchen-button', name: 'Kitchen button', room: 'Kitchen', capabilities: ['button'] },
  { id: 'speaker', name: 'Kitchen speaker', room: 'Kitchen', capabilities: ['speech', 'notification'] },
  { id: 'front-door', name: 'Front door', room: 'Hall', capabilities: ['contact'], values: { contact: 'closed' } },
  {
    id: 'front-lock',
    name: 'Front door lock',
    room: 'Hall',
    capabilities: ['lock', 'battery'],
    values: { lock: 'locked' },
  },
  {
    id: 'hall-motion',
    name: 'Hall motion sensor',
    room: 'Hall',
    capabilities: ['motion', 'illuminance', 'battery'],
    values: { motion: 'inactive' },
  },
  {
    id: 'hall-light',
    name: 'Hall light',
    room: 'Hall',
    capabilities: ['switch', 'dimmer'],
    values: { switch: 'off', level: 80 },
  },
  { id: 'bed-left', name: 'Bed lamp left', room: 'Bedroom', capabilities: ['switch'], values: { switch: 'off' } },
  { id: 'bed-right', name: 'Bed lamp right', room: 'Bedroom', capabilities: ['switch'], values: { switch: 'off' } },
  {
    id: 'bedroom-window',
    name: 'Bedroom window',
    room: 'Bedroom',
    capabilities: ['contact'],
    values: { contact: 'closed' },
  },
  { id: 'attic-sensor', name: 'Attic sensor', room: 'Attic', capabilities: ['temperature', 'humidity'] },
  { id: 'attic-fan', name: 'Attic fan', room: 'Attic', capabilities: ['switch'], values: { switch: 'off' } },
  { id: 'outside', name: 'Weather station', capabilities: ['temperature', 'humidity', 'illuminance'] },
  { id: 'anna-phone', name: 'Anna’s phone', capabilities: ['presence'], values: { presence: 'present' } },
  { id: 'ben-phone', name: 'Ben’s phone', capabilities: ['presence'], values: { presence: 'present' } },
];

/** The devices, with full ids. */
export const DEMO_DEVICES: readonly (VirtualSpec & { id: string; values: Record<string, Json> })[] = DEVICES.map(
  spec => ({
    ...spec,
    id: `virtual:${spec.id}`,
    values: (spec.values ?? {}) as Record<string, Json>,
  }),
);

/** The house.yaml of the demo, as somebody would write it. */
export const DEMO_HOUSE_YAML = {
  aliases: Object.fromEntries(DEVICES.map(({ id }) => [id, `virtual:${id}`])),
  modes: ['home', 'away', 'night'],
  variables: { night_level: { type: 'number', initial: 15 }, away_setpoint: { type: 'number', initial: 17 } },
  people: {
    anna: { trackers: ['anna-phone'], away_after: '5m' },
    ben: { trackers: ['ben-phone'], away_after: '5m' },
  },
  groups: {
    lights: { members: ['living-lamp', 'hall-light', 'bed-left', 'bed-right'], attribute: 'switch', function: 'any' },
    windows: { members: ['kitchen-window', 'bedroom-window'], attribute: 'contact', function: 'any' },
    warmest: { members: { capability: 'temperature' }, attribute: 'temperature', function: 'max' },
  },
  rooms: {
    'living-room': { names: ['Living room', 'Wohnzimmer'] },
    kitchen: { names: ['Kitchen', 'Küche'] },
    hall: { names: ['Hall', 'Flur'] },
    bedroom: { names: ['Bedroom', 'Schlafzimmer'] },
    attic: { names: ['Attic', 'Dachboden'] },
  },
  workdays: { except: ['12-24..12-26', '01-01'] },
  periods: { night: { after: '22:30', before: '06:30' }, evening: { after: 'sunset-30m', before: '22:30' } },
  scenes: { reading: { 'living-lamp': { switch: 'on', level: 45, colorTemperature: 2700 } } },
  notifiers: { speaker: { type: 'device', device: 'speaker' } },
  default_notifier: 'speaker',
};

/** The same, read. */
export const demoHouseConfig = () => houseSchema(Target).parse(DEMO_HOUSE_YAML);
