// Addresses, domains and applications that nobody, or one client, is to reach: policies of the firewall that we make, find again
// by their names, and remove. Their shape: reference of Network's v2 API as observed (POST `firewall-policies` takes whole
// objects, a block without `create_allow_respond: false` is refused, one without a schedule is taken and not done).
import { BlockList, isIP, isIPv6 } from 'node:net';
import { CausewayError, hasCode } from '../../../lib/errors.ts';
import type { Json } from '../../../model/value.ts';
import { isMac } from '../console/wire.ts';
import { type Commands, type Task, textOf } from './task.ts';

type Row = { readonly [key: string]: Json | undefined };
type End = { readonly [key: string]: Json };

/** What is blocked: its words in the names of our policies, and one end of them. */
interface Block {
  readonly words: string;
  readonly from?: End;
  readonly to?: End;
  readonly family: 'BOTH' | 'IPV4' | 'IPV6';
}

/** A zone of the firewall. */
interface Zone {
  readonly id: string;
  readonly name: string;
  readonly isOutside: boolean;
  readonly networks: readonly string[];
}

const OURS = 'Causeway: ';
/** The internet, by the names that consoles give it. */
const OUTSIDE = new Set(['external', 'wan']);
const ITSELF = 'gateway';

const rowsOf = (body: Json): Row[] =>
  Array.isArray(body)
    ? body.filter(
        (one): one is { [key: string]: Json } => one !== null && typeof one === 'object' && !Array.isArray(one),
      )
    : [];

// --- what is meant -------------------------------------------------------------------------------------------------------

const INSIDE = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
] as const)
  INSIDE.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['fc00::', 7],
  ['fe80::', 10],
  ['::1', 128],
] as const)
  INSIDE.addSubnet(net, bits, 'ipv6');

/** More than these many addresses at once is a mistake. */
const LEAST_BITS = { 4: 8, 6: 16 } as const;
const DOMAIN = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

const invalid = (path: string, message: string, hint: string) =>
  new CausewayError('ARGUMENT_INVALID', message, { path, hint });

/** An address or a subnet of the internet. @throws ARGUMENT_INVALID, UNSUPPORTED */
function addressOf(text: string, path: string): { address: string; family: 'IPV4' | 'IPV6' } | undefined {
  const [ip = '', bits] = text.split('/');
  const version = isIP(ip);
  if (version === 0) return undefined;
  const least = LEAST_BITS[version as 4 | 6];
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)))
    throw invalid(path, `"${text}" is no subnet`, 'write it as 203.0.113.0/24');
  if (bits !== undefined && Number(bits) < least)
    throw invalid(path, `"${text}" is a large part of the internet`, `at least /${least} is wanted`);
  if (INSIDE.check(ip, version === 4 ? 'ipv4' : 'ipv6')) {
    throw new CausewayError('UNSUPPORTED', `${text} is an address of the house`, {
      path,
      hint: 'block the client itself: blockClient',
    });
  }
  return { address: text.toLowerCase(), family: isIPv6(ip) ? 'IPV6' : 'IPV4' };
}

/** A destination: an address, a subnet, or a domain with all below it. */
function destinationOf(task: Task): Block {
  const text = textOf(task, 'destination').trim().toLowerCase();
  const address = addressOf(text, 'destination');
  if (address) {
    const to = {
      matching_target: 'IP',
      matching_target_type: 'SPECIFIC',
      ips: [address.address],
      match_opposite_ips: false,
    };
    return { words: address.address, to, family: address.family };
  }
  if (!DOMAIN.test(text) || text.length > 100)
    throw invalid(
      'destination',
      `"${text}" is neither an address nor a domain`,
      'give it as example.com or 203.0.113.20',
    );
  const to = { matching_target: 'WEB', matching_target_type: 'SPECIFIC', web_domains: [text.replace(/^\*\./, '')] };
  return { words: text, to, family: 'BOTH' };
}

function sourceOf(task: Task): Block {
  const text = textOf(task, 'address').trim();
  const address = addressOf(text, 'address');
  if (!address) throw invalid('address', `"${text}" is no address`, 'give it as 203.0.113.20');
  const from = {
    matching_target: 'IP',
    matching_target_type: 'SPECIFIC',
    ips: [address.address],
    match_opposite_ips: false,
  };
  return { words: `from ${address.address}`, from, family: address.family };
}

const APPS_A_PAGE = 200;
const MOST_PAGES = 50;

/** An application of the console's deep packet inspection, by its number or its name. */
async function applicationOf(task: Task): Promise<Block> {
  const text = textOf(task, 'application').trim();
  const id = /^\d+$/.test(text) ? Number(text) : await idOfApplication(task, text);
  return { words: `application ${text.toLowerCase()}`, to: { matching_target: 'APP', app_ids: [id] }, family: 'BOTH' };
}

async function idOfApplication({ way, asking }: Task, name: string): Promise<number> {
  for (let page = 0; page < MOST_PAGES; page++) {
    const path = `dpi/applications?offset=${page * APPS_A_PAGE}&limit=${APPS_A_PAGE}`;
    const body = await way.client.look('official', path, asking.signal).catch(error => {
      if (!hasCode(error, 'UNSUPPORTED')) throw error;
      throw new CausewayError('UNSUPPORTED', 'the console tells the names of applications to an API key alone', {
        path: 'application',
        hint: 'set api_key of this backend in config.yaml, or give the number of the application',
        cause: error,
      });
    });
    const rows = rowsOf((body as { data?: Json } | null)?.data ?? []);
    const found = rows.find(row => String(row.name).toLowerCase() === name.toLowerCase());
    if (typeof found?.id === 'number') return found.id;
    if (rows.length < APPS_A_PAGE) break;
  }
  throw new CausewayError('NOT_FOUND', `the console knows no application "${name}"`, {
    path: 'application',
    hint: 'a service such as HTTPS or DNS is no application: block the destination',
  });
}

/** Whom it is for: everybody, unless a client is named. */
function clientOf(task: Task): string | undefined {
  if (task.args.client === undefined) return undefined;
  const mac = textOf(task, 'client').toLowerCase();
  if (isMac(mac)) return mac;
  throw invalid('client', `"${mac}" is no MAC`, 'give it as 00:00:5e:00:53:01');
}

const labelOf = ({ words }: Block, client: string | undefined): string =>
  `${OURS}${words}${client === undefined ? '' : ` for ${client}`}`;

// --- the console's side ----------------------------------------------------------------------------------------------------

async function zonesOf({ way, asking }: Task): Promise<Zone[]> {
  const body = await way.client.look('internal', 'firewall/zone', asking.signal).catch(error => {
    if (hasCode(error, 'BACKEND_REJECTED')) return [];
    throw error;
  });
  const zones = rowsOf(body).map(({ _id, name, zone_key: key, network_ids: networks }) => ({
    id: String(_id),
    name: String(name),
    key: String(key).toLowerCase(),
    networks: Array.isArray(networks) ? networks.map(String) : [],
  }));
  if (!zones.some(({ key }) => OUTSIDE.has(key))) {
    throw new CausewayError('UNSUPPORTED', 'the console has no firewall of zones', {
      hint: 'it comes with Network 9, and is switched on in the console’s own pages (Security, Traffic & Firewall Rules)',
    });
  }
  return zones
    .filter(({ key }) => key !== ITSELF)
    .map(({ key, ...zone }) => ({ ...zone, isOutside: OUTSIDE.has(key) }));
}

/** The zones in which those are whom it is for. */
function insideOf({ way }: Task, zones: readonly Zone[], client: string | undefined): Zone[] {
  const inside = zones.filter(({ isOutside, networks }) => !isOutside && networks.length > 0);
  const network = client === undefined ? undefined : way.network.clients.row(client)?.network_id;
  const own = inside.filter(({ networks }) => network !== undefined && networks.includes(network));
  return own.length > 0 ? own : inside;
}

const ANYBODY: End = { matching_target: 'ANY' };
const onlyClient = (mac: string): End => ({
  matching_target: 'CLIENT',
  matching_target_type: 'SPECIFIC',
  client_macs: [mac],
});
const end = (zone: Zone, what: End): End => ({
  port_matching_type: 'ANY',
  match_opposite_ports: false,
  ...what,
  zone_id: zone.id,
});

const policyOf = (name: string, family: Block['family'], source: End, destination: End) => ({
  name,
  description: 'Made by Causeway, which removes it again',
  enabled: true,
  action: 'BLOCK',
  create_allow_respond: false,
  connection_state_type: 'ALL',
  connection_states: [],
  icmp_typename: 'ANY',
  icmp_v6_typename: 'ANY',
  ip_version: family,
  logging: false,
  match_ip_sec: false,
  match_opposite_protocol: false,
  protocol: 'all',
  schedule: { mode: 'ALWAYS', repeat_on_days: [], time_all_day: false },
  source,
  destination,
});

/** Our policies of a label, one for each zone. */
async function policiesOf({ way, asking }: Task, label: string): Promise<Row[]> {
  const rows = rowsOf(await way.client.look('internal', 'firewall-policies', asking.signal));
  return rows.filter(({ name, predefined }) => predefined !== true && String(name).startsWith(`${label} (`));
}

const remove = ({ way, asking }: Task, rows: readonly Row[]): Promise<Json> =>
  way.client.ask(
    'POST',
    'internal',
    'firewall-policies/batch-delete',
    rows.map(({ _id }) => String(_id)),
    asking,
  );

async function block(task: Task, what: Block, client?: string): Promise<void> {
  const { way, asking } = task;
  const label = labelOf(what, client);
  const zones = await zonesOf(task);
  const outside = zones.find(({ isOutside }) => isOutside) as Zone;
  const there = await policiesOf(task, label);
  try {
    for (const zone of insideOf(task, zones, client)) {
      const name = `${label} (${zone.name})`;
      const old = there.find(row => row.name === name);
      if (old?.enabled === true) continue;
      const inside = end(zone, client === undefined ? ANYBODY : onlyClient(client));
      const [source, destination] = what.from
        ? [end(outside, what.from), inside]
        : [inside, end(outside, what.to ?? ANYBODY)];
      if (old)
        await way.client.ask(
          'PUT',
          'internal',
          `firewall-policies/${String(old._id)}`,
          { ...old, enabled: true },
          asking,
        );
      else
        await way.client.ask(
          'POST',
          'internal',
          'firewall-policies',
          policyOf(name, what.family, source, destination),
          asking,
        );
      const made = (await policiesOf(task, label)).find(row => row.name === name);
      if (made?.enabled !== true) {
        throw new CausewayError('BACKEND_UNCONFIRMED', `the console took the policy "${name}" and does not list it`, {
          hint: 'look at the firewall in the console’s own pages',
        });
      }
    }
  } catch (error) {
    // Half a block would be nobody's: it has no end.
    if (there.length === 0)
      await policiesOf(task, label)
        .then(rows => rows.length > 0 && remove(task, rows))
        .catch(() => {});
    throw error;
  }
}

async function unblock(task: Task, what: Pick<Block, 'words'>, client?: string): Promise<void> {
  const label = labelOf(what as Block, client);
  const rows = await policiesOf(task, label);
  if (rows.length === 0) return;
  await remove(task, rows);
  if ((await policiesOf(task, label)).length === 0) return;
  throw new CausewayError('BACKEND_UNCONFIRMED', `the console still has the policy "${String(rows[0]?.name)}"`, {
    hint: 'remove it in the console’s own pages',
  });
}

/** By name. */
export const blockCommands: Commands = {
  blockDestination: task => block(task, destinationOf(task), clientOf(task)),
  unblockDestination: task => unblock(task, destinationOf(task), clientOf(task)),
  async blockApplication(task) {
    await block(task, await applicationOf(task), clientOf(task));
  },
  unblockApplication: task =>
    unblock(task, { words: `application ${textOf(task, 'application').trim().toLowerCase()}` }, clientOf(task)),
  blockSource: task => block(task, sourceOf(task)),
  unblockSource: task => unblock(task, sourceOf(task)),
};
