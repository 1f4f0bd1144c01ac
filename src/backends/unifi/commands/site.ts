// Commands to WLANs and to the site.
import { CausewayError } from '../../../lib/errors.ts';
import { didYouMean } from '../../../lib/text.ts';
import type { Json } from '../../../model/value.ts';
import type { Surface } from '../console/answers.ts';
import { isMac, readWlans } from '../console/wire.ts';
import { blockCommands } from './blocks.ts';
import { clientCommands } from './client.ts';
import { guardWlan } from './guards.ts';
import { type Commands, numberOf, type Task, tell, textOf } from './task.ts';

// --- WLANs -----------------------------------------------------------------------------------------------------------

async function setWlan(task: Task, decide: (isOn: boolean) => boolean): Promise<void> {
  const { way, native, asking, args } = task;
  const wlans = readWlans(await way.client.look('legacy', 'rest/wlanconf', asking.signal), way.counters);
  const wlan = wlans.find(({ _id }) => _id === native);
  const enabled = decide(wlan?.enabled === true);
  const others = wlans.filter(one => one._id !== native && one.enabled);
  if (!enabled && args.force !== true) guardWlan(wlan?.name, others.length, way.network.clients.connected(), way.own);
  await way.client.ask('PUT', 'legacy', `rest/wlanconf/${native}`, { enabled }, asking);
}

/** By name. */
export const wlanCommands: Commands = {
  on: task => setWlan(task, () => true),
  off: task => setWlan(task, () => false),
  toggle: task => setWlan(task, isOn => !isOn),
};

// --- what is written back whole --------------------------------------------------------------------------------------

/** Where things of a kind are, and what they are called by. */
interface Kind {
  /** The argument. */
  readonly what: string;
  readonly surface: Surface;
  readonly path: string;
  readonly label: 'name' | 'description';
}

const KINDS: Readonly<Record<string, Kind>> = {
  setFirewallPolicy: { what: 'policy', surface: 'internal', path: 'firewall-policies', label: 'name' },
  setTrafficRule: { what: 'rule', surface: 'internal', path: 'trafficrules', label: 'description' },
  setTrafficRoute: { what: 'route', surface: 'internal', path: 'trafficroutes', label: 'description' },
  setPortForward: { what: 'forward', surface: 'legacy', path: 'rest/portforward', label: 'name' },
};

type Thing = { [key: string]: Json };

async function thingsOf({ way, asking }: Task, { surface, path }: Kind): Promise<Thing[]> {
  const body = await way.client.look(surface, path, asking.signal);
  return Array.isArray(body)
    ? body.filter((one): one is Thing => one !== null && typeof one === 'object' && !Array.isArray(one))
    : [];
}

/** By its id, or by its name, which must be one. @throws NOT_FOUND, ARGUMENT_INVALID */
function thingOf(things: readonly Thing[], wanted: string, { what, label }: Kind): Thing {
  const byId = things.find(({ _id }) => _id === wanted);
  if (byId) return byId;
  const named = things.filter(one => String(one[label]).toLowerCase() === wanted.toLowerCase());
  if (named.length === 1) return named[0] as Thing;
  if (named.length > 1) {
    throw new CausewayError('ARGUMENT_INVALID', `there are ${named.length} of the name "${wanted}"`, {
      path: what,
      hint: `give the id: ${named.map(({ _id }) => String(_id)).join(', ')}`,
    });
  }
  throw new CausewayError('NOT_FOUND', `the console has no ${what} "${wanted}"`, {
    path: what,
    hint: didYouMean(
      wanted,
      things.map(one => String(one[label])),
    ),
  });
}

/**
 * Switches something that the console takes back as a whole alone; a part of it is refused, or taken and not done (recorded of
 * policies). So it is read, changed, written and read again.
 */
async function setThing(task: Task, kind: Kind): Promise<void> {
  const enabled = textOf(task, 'state') === 'on';
  const thing = thingOf(await thingsOf(task, kind), textOf(task, kind.what), kind);
  if (thing.predefined === true) {
    throw new CausewayError(
      'UNSUPPORTED',
      `"${String(thing[kind.label])}" is one of the console’s own and cannot be switched`,
      {
        hint: 'make one of your own before it',
      },
    );
  }
  if (thing.enabled === enabled) return;
  const id = String(thing._id);
  await task.way.client.ask('PUT', kind.surface, `${kind.path}/${id}`, { ...thing, enabled }, task.asking);
  const after = (await thingsOf(task, kind)).find(({ _id }) => _id === id);
  if (after?.enabled === enabled) return;
  throw new CausewayError(
    'BACKEND_REJECTED',
    `the console took the change and "${String(thing[kind.label])}" is as before`,
    {
      hint: 'look at it in the console’s own pages',
    },
  );
}

// --- vouchers --------------------------------------------------------------------------------------------------------

async function createVoucher(task: Task): Promise<void> {
  const { way, asking } = task;
  const minutes = numberOf(task, 'minutes');
  const note: { note?: string } = task.args.note === undefined ? {} : { note: textOf(task, 'note') };
  const made = await tell(task, 'hotspot', {
    cmd: 'create-voucher',
    n: numberOf(task, 'count') ?? 1,
    // 0: any number of times.
    quota: numberOf(task, 'uses') ?? 1,
    expire_number: minutes,
    expire_unit: 1,
    ...note,
  });
  const created = Array.isArray(made) ? (made[0] as { create_time?: Json } | undefined)?.create_time : undefined;
  const rows = await way.client.look('legacy', 'stat/voucher', asking.signal);
  const codes = (Array.isArray(rows) ? (rows as Thing[]) : [])
    .filter(row => created !== undefined && row.create_time === created)
    .map(({ code }) => String(code));
  way.network.site.happen('vouchers', { codes, minutes: minutes ?? null, note: note.note ?? null });
}

// --- clients whose address is known when it happens alone: the source of a flow ---------------------------------------

async function toClient(task: Task, command: 'block' | 'unblock'): Promise<void> {
  const native = textOf(task, 'mac').toLowerCase();
  if (!isMac(native)) {
    throw new CausewayError('ARGUMENT_INVALID', `"${native}" is no MAC`, {
      path: 'mac',
      hint: 'give it as 00:00:5e:00:53:01',
    });
  }
  await clientCommands[command]?.({ ...task, native });
}

/** By name. */
export const siteCommands: Commands = {
  ...Object.fromEntries(Object.entries(KINDS).map(([name, kind]) => [name, (task: Task) => setThing(task, kind)])),
  ...blockCommands,
  createVoucher,
  blockClient: task => toClient(task, 'block'),
  unblockClient: task => toClient(task, 'unblock'),
  async speedTest(task) {
    await tell(task, 'devmgr', { cmd: 'speedtest' });
  },
};
