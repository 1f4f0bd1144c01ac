// Commands to devices. What is written for ports and outlets is a whole list: it is read first, so that nothing of it is lost.
import { CausewayError } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import type { KnownDevice } from '../network/devices.ts';
import { guardPort, isOwn, waysTo } from './guards.ts';
import { type Commands, type Task, tell, textOf } from './task.ts';

type Fields = { [key: string]: Json };

const deviceOf = ({ way, native }: Task): KnownDevice => {
  const device = way.network.devices.byMac(native);
  if (device) return device;
  throw new CausewayError('DEVICE_NOT_FOUND', `the console has no device ${native}`, {
    hint: 'it was removed a moment ago',
  });
};

const guarded = (task: Task): void => {
  const { way, args, index } = task;
  if (args.force === true) return;
  const { clients, devices } = way.network;
  const ways = clients
    .connected()
    .filter(row => isOwn(row, way.own))
    .map(row => waysTo(row, mac => devices.byMac(mac)?.row))
    .flatMap(one => [...one]);
  guardPort(deviceOf(task), index, new Set(ways));
};

/** The record as the console has it now, with its lists of overrides. */
async function recordOf({ way, native, asking }: Task): Promise<Fields> {
  const rows = await way.client.look('legacy', `stat/device/${native}`, asking.signal);
  const record = Array.isArray(rows) ? (rows[0] as Fields | undefined) : undefined;
  if (record && typeof record._id === 'string') return record;
  throw new CausewayError('BACKEND_REJECTED', `the console tells nothing of ${native}`, {
    hint: 'it was removed a moment ago',
  });
}

const listOf = (value: Json | undefined): Fields[] =>
  Array.isArray(value)
    ? value.filter((one): one is Fields => one !== null && typeof one === 'object' && !Array.isArray(one))
    : [];

/** The one of this number, which some versions write as text. */
const isAt =
  (key: 'port_idx' | 'index', number: number) =>
  (one: Fields): boolean =>
    Number(one[key]) === number;

const write = ({ way, asking }: Task, { _id }: Fields, change: Fields): Promise<Json> =>
  way.client.ask('PUT', 'legacy', `rest/device/${String(_id)}`, change, asking);

async function setPoe(task: Task, mode: string): Promise<void> {
  const record = await recordOf(task);
  const overrides = listOf(record.port_overrides);
  const mine = overrides.find(isAt('port_idx', task.index));
  const profile = listOf(record.port_table).find(isAt('port_idx', task.index))?.portconf_id;
  const changed: Fields = {
    ...(mine ?? { port_idx: task.index, ...(profile !== undefined && { portconf_id: profile }) }),
    poe_mode: mode,
  };
  await write(task, record, { port_overrides: [...overrides.filter(one => one !== mine), changed] });
}

async function setOutlet(task: Task, index: number, isOn: boolean): Promise<void> {
  const record = await recordOf(task);
  const overrides = listOf(record.outlet_overrides);
  const mine = overrides.find(isAt('index', index));
  const outlet = listOf(record.outlet_table).find(isAt('index', index));
  const changed: Fields = {
    ...(mine ?? { index, name: outlet?.name ?? `Outlet ${index}`, cycle_enabled: outlet?.cycle_enabled ?? false }),
    relay_state: isOn,
  };
  await write(task, record, { outlet_overrides: [...overrides.filter(one => one !== mine), changed] });
}

const onlyOutlet = (task: Task): number => deviceOf(task).outlets[0]?.index ?? 1;

/** By name. */
export const deviceCommands: Commands = {
  async restart(task) {
    await tell(task, 'devmgr', { cmd: 'restart', mac: task.native, reboot_type: 'soft' });
  },
  async locate(task) {
    await tell(task, 'devmgr', { cmd: 'set-locate', mac: task.native });
  },
  async stopLocating(task) {
    await tell(task, 'devmgr', { cmd: 'unset-locate', mac: task.native });
  },
  async setLed(task) {
    await write(task, await recordOf(task), { led_override: textOf(task, 'mode') });
  },
  async upgrade(task) {
    if (deviceOf(task).row.upgradable === false) {
      throw new CausewayError('UNSUPPORTED', `there is no newer firmware for ${task.native}`, {
        hint: 'see its updateAvailable',
      });
    }
    await tell(task, 'devmgr', { cmd: 'upgrade', mac: task.native });
  },
  async cyclePoe(task) {
    guarded(task);
    await tell(task, 'devmgr', { cmd: 'power-cycle', mac: task.native, port_idx: task.index });
  },
  setPoe(task) {
    const mode = textOf(task, 'mode');
    // Whatever is powered by the standard is dark with the passive kinds as well.
    if (mode !== 'auto') guarded(task);
    return setPoe(task, mode);
  },
  setOutlet: task => setOutlet(task, task.index, textOf(task, 'state') === 'on'),
  on: task => setOutlet(task, onlyOutlet(task), true),
  off: task => setOutlet(task, onlyOutlet(task), false),
  async toggle(task) {
    const index = onlyOutlet(task);
    const { outlet_table: table } = await recordOf(task);
    await setOutlet(task, index, listOf(table).find(isAt('index', index))?.relay_state !== true);
  },
};
