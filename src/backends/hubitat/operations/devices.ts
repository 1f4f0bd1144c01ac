// What the hub knows of a device beyond what it is on the bus.
import { z } from 'zod';
import { iso } from '../../../lib/clock.ts';
import type { Json } from '../../../model/value.ts';
import { hubTime } from '../times.ts';
import { device, known, read } from './row.ts';

const Full = {
  device: z.record(z.string(), z.json()),
  appsUsing: z.array(z.json()),
  parentApp: z.json(),
};
const word = z.union([z.string(), z.number()]).transform(String);
const Device = {
  label: word,
  name: word,
  typeName: word,
  deviceNetworkId: word,
  roomName: word,
  disabled: z.boolean(),
};
const State = { value: z.json(), unit: z.string(), date: z.string() };
const App = { id: word, label: word, trueLabel: word, name: word, disabled: z.boolean() };

const states = (page: Json | undefined): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(page !== null && typeof page === 'object' && !Array.isArray(page) ? page : {}).map(
      ([name, state]) => {
        const { value = null, unit, date } = known(State, state);
        const at = hubTime(date);
        return [name, { value, ...(unit && unit !== 'null' && { unit }), ...(at !== undefined && { at: iso(at) }) }];
      },
    ),
  );

const getDevice = read({
  name: 'get_hubitat_device',
  title: 'A device as its Hubitat hub knows it',
  description:
    'What a Hubitat hub knows of a device: driver, network id, room, whether it is disabled, when each of its states was told, and which apps and rules of the hub use it: look there before you swap or remove it.',
  input: { device },
  output: { device: z.string(), states: z.record(z.string(), z.json()), apps: z.array(z.looseObject({})) },
  path: 'device',
  async run(hub, input, { signal }) {
    const page = known(Full, await hub.pages.json(`/device/fullJson/${hub.nativeId(input.device)}`, { signal }));
    const { label, name, typeName, deviceNetworkId, roomName, disabled } = known(Device, page.device);
    return {
      device: input.device,
      name: label ?? name ?? null,
      driver: typeName ?? null,
      network_id: deviceNetworkId ?? null,
      room: roomName ?? null,
      disabled: disabled ?? null,
      states: states(page.device?.currentStates),
      apps: (page.appsUsing ?? []).map(row => {
        const app = known(App, row);
        return {
          id: app.id ?? null,
          name: app.trueLabel ?? app.label ?? app.name ?? null,
          disabled: app.disabled ?? false,
        };
      }),
    };
  },
});

/** Devices as the hub knows them. */
export const deviceRows = [getDevice];
