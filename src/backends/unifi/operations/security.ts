// What lets traffic pass and what stops it.
import { z } from 'zod';
import { CausewayError } from '../../../lib/errors.ts';
import { didYouMean } from '../../../lib/text.ts';
import type { Json } from '../../../model/value.ts';
import { fresh, LASTS, Plain, type Plained, plain, read, rowsOf, sameAs } from './row.ts';

const listForwards = read({
  name: 'list_unifi_port_forwards',
  title: 'Port forwards of a UniFi site',
  description:
    'The ports that are open from the internet, where to, and whether each forward is on. Switched by setPortForward of the site.',
  input: { fresh },
  output: {
    forwards: z.array(
      z.object({
        id: z.string(),
        name: Plain,
        enabled: Plain,
        port: Plain,
        to: Plain,
        to_port: Plain,
        protocol: Plain,
        from: Plain,
      }),
    ),
  },
  path: 'port-forwards',
  async run(backend, input, { signal }) {
    const rows = await rowsOf(backend, ['legacy', 'rest/portforward'], LASTS.forwards, { ...input, signal });
    return {
      forwards: rows.map(row => ({
        id: String(row._id),
        name: plain(row.name),
        enabled: plain(row.enabled),
        port: plain(row.dst_port),
        to: plain(row.fwd),
        to_port: plain(row.fwd_port),
        protocol: plain(row.proto),
        from: plain(row.src),
      })),
    };
  },
});

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value[name] : undefined;

/**
 * What the zones of policies are called that somebody means by a name or id.
 * @param names by id; a zone that is not among them goes by its id
 * @throws NOT_FOUND
 */
function zoneOf(wanted: string, names: ReadonlyMap<Json | undefined, Plained>, used: readonly Plained[]): Plained {
  const known = [...names.values(), ...used].filter(name => typeof name === 'string');
  const found = names.get(wanted) ?? known.find(name => sameAs(name, wanted));
  if (found !== undefined) return found;
  throw new CausewayError('NOT_FOUND', `the console has no firewall zone "${wanted}"`, {
    path: 'zone',
    hint: didYouMean(wanted, new Set(known)),
  });
}

const listPolicies = read({
  name: 'list_unifi_firewall_policies',
  title: 'Firewall policies of a UniFi site',
  description:
    'The policies of the zone-based firewall in their order: from which zone to which, what they do, whether they are on, whether they are the console’s own. Switched by setFirewallPolicy of the site.',
  input: { zone: z.string().optional().describe('Only those from or to this zone (name or id)'), fresh },
  output: {
    policies: z.array(
      z.object({
        id: z.string(),
        name: Plain,
        enabled: Plain,
        action: Plain,
        from: Plain,
        to: Plain,
        protocol: Plain,
        index: Plain,
        built_in: z.boolean(),
      }),
    ),
  },
  path: 'firewall-policies',
  async run(backend, { zone, ...input }, { signal }) {
    const how = { ...input, signal };
    const rows = await rowsOf(backend, ['internal', 'firewall-policies'], LASTS.firewall, how);
    const zones = new Map(
      (await rowsOf(backend, ['internal', 'firewall/zone'], LASTS.firewall, how)).map(row => [
        row._id,
        plain(row.name),
      ]),
    );
    const nameOf = (end: Json | undefined) => {
      const id = fieldOf(end, 'zone_id');
      return zones.get(id as string) ?? plain(id);
    };
    const all = rows.map(row => ({
      id: String(row._id),
      name: plain(row.name),
      enabled: plain(row.enabled),
      action: plain(row.action),
      from: nameOf(row.source),
      to: nameOf(row.destination),
      protocol: plain(row.protocol),
      index: plain(row.index),
      built_in: row.predefined === true,
    }));
    if (zone === undefined) return { policies: all };
    const wanted = zoneOf(
      zone,
      zones,
      all.flatMap(({ from, to }) => [from, to]),
    );
    return { policies: all.filter(({ from, to }) => from === wanted || to === wanted) };
  },
});

const listZones = read({
  name: 'list_unifi_firewall_zones',
  title: 'Firewall zones of a UniFi site',
  description: 'The zones of the firewall and the networks in each.',
  input: { fresh },
  output: { zones: z.array(z.object({ id: z.string(), name: Plain, key: Plain, networks: z.array(Plain) })) },
  path: 'firewall-zones',
  async run(backend, input, { signal }) {
    const how = { ...input, signal };
    const networks = new Map(
      (await rowsOf(backend, ['legacy', 'rest/networkconf'], LASTS.networks, how)).map(row => [
        row._id,
        plain(row.name),
      ]),
    );
    const rows = await rowsOf(backend, ['internal', 'firewall/zone'], LASTS.firewall, how);
    return {
      zones: rows.map(row => ({
        id: String(row._id),
        name: plain(row.name),
        key: plain(row.zone_key),
        networks: (Array.isArray(row.network_ids) ? row.network_ids : []).map(id => networks.get(id) ?? plain(id)),
      })),
    };
  },
});

const listTrafficRules = read({
  name: 'list_unifi_traffic_rules',
  title: 'Traffic rules and routes of a UniFi site',
  description:
    'The rules that block or slow traffic, and the routes that send it over another line or VPN. Switched by setTrafficRule and setTrafficRoute of the site.',
  input: { fresh },
  output: {
    rules: z.array(z.object({ id: z.string(), name: Plain, enabled: Plain, action: Plain, target: Plain })),
    routes: z.array(z.object({ id: z.string(), name: Plain, enabled: Plain, target: Plain, network: Plain })),
  },
  path: 'traffic-rules',
  async run(backend, input, { signal }) {
    const how = { ...input, signal };
    const rules = await rowsOf(backend, ['internal', 'trafficrules'], LASTS.firewall, how);
    const routes = await rowsOf(backend, ['internal', 'trafficroutes'], LASTS.firewall, how);
    const common = (row: { [key: string]: Json }) => ({
      id: String(row._id),
      name: plain(row.description),
      enabled: plain(row.enabled),
      target: plain(row.matching_target),
    });
    return {
      rules: rules.map(row => ({ ...common(row), action: plain(row.action) })),
      routes: routes.map(row => ({ ...common(row), network: plain(row.network_id) })),
    };
  },
});

/** What lets pass and what stops. */
export const securityRows = [listForwards, listPolicies, listZones, listTrafficRules];
