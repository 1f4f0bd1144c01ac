// The paths that the simulated console answers at, with their envelopes; everything else is a 404, as it is at a real one.
import { type SimRecord, simHealth } from './house.ts';
import { type SimConsole, VERSIONS } from './state.ts';

/** An answer. */
export interface SimAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What a route gets. */
interface Asked {
  readonly console: SimConsole;
  readonly body: SimRecord;
  readonly query: URLSearchParams;
  /** Parts of the path. */
  readonly at: readonly string[];
}

const SITE_ID = '88f7af54-98f8-306a-a1c7-c9349722b1f6';

const fine = (data: unknown[] = []): SimAnswer => ({ status: 200, body: { meta: { rc: 'ok' }, data } });
const refusal = (msg: string, status = 400): SimAnswer => ({ status, body: { meta: { rc: 'error', msg }, data: [] } });
const plain = (body: unknown, status = 200): SimAnswer => ({ status, body });
const badly = (message: string): SimAnswer => ({ status: 400, body: { errorCode: 400, message } });
const integrationError = (status: number, code: string, message: string): SimAnswer => ({
  status,
  body: { statusCode: status, statusName: 'BAD_REQUEST', code, message, requestPath: '/integration/v1' },
});

type Route = readonly [method: string, path: RegExp, answer: (asked: Asked) => SimAnswer];
const L = '^/proxy/network/api/s/([^/]+)';
const V = '^/proxy/network/v2/api/site/([^/]+)';
const I = '^/proxy/network/integration/v1';

/** Only of the site; others are told in the way of their surface. */
const legacy = (method: string, path: string, answer: (asked: Asked) => SimAnswer): Route => [
  method,
  new RegExp(`${L}/${path}$`),
  asked => (asked.at[0] === 'default' ? answer(asked) : refusal('api.err.NoSiteContext', 401)),
];
const internal = (method: string, path: string, answer: (asked: Asked) => SimAnswer): Route => [
  method,
  new RegExp(`${V}/${path}$`),
  asked =>
    asked.at[0] === 'default'
      ? answer(asked)
      : { status: 404, body: { errorCode: 404, message: 'Site does not exist' } },
];
const official = (method: string, path: string, answer: (asked: Asked) => SimAnswer): Route => [
  method,
  new RegExp(`${I}/${path}$`),
  answer,
];

const RISKS = ['low', 'medium', 'high'];
const ACTIONS = ['allowed', 'blocked'];
const FLOW_FILTERS =
  'risk action direction protocol policy policy_type service source_host source_mac source_ip source_port source_network_id source_domain source_zone_id source_region destination_host destination_mac destination_ip destination_port destination_network_id destination_domain destination_zone_id destination_region in_network_id out_network_id next_ai_query except_for'.split(
    ' ',
  );
const CATEGORIES =
  'SECURITY UNIFI_DEVICES SOFTWARE_UPDATES VPN POWER UNIFI_ETHERNET_PORTS CLIENT_DEVICES INTERNET_AND_WAN AUDIT UNKNOWN'.split(
    ' ',
  );

function page<T>(
  rows: readonly T[],
  body: SimRecord,
): { data: T[]; page_number: number; total_element_count: number; total_page_count: number } {
  const size = Number(body.pageSize ?? 50);
  const number = Number(body.pageNumber ?? 0);
  return {
    data: rows.slice(number * size, (number + 1) * size),
    page_number: number,
    total_element_count: rows.length,
    total_page_count: Math.ceil(rows.length / size),
  };
}

/** Between two instants, newest first. */
const inWindow = <T>(rows: readonly T[], at: (row: T) => number, { timestampFrom, timestampTo }: SimRecord): T[] =>
  rows.filter(row => at(row) >= Number(timestampFrom) && at(row) <= Number(timestampTo)).sort((a, b) => at(b) - at(a));

function systemLog({ console, body }: Asked): SimAnswer {
  if (console.profile === 'network9') return plain({ errorCode: 404, message: 'No endpoint' }, 404);
  const unknown = ((body.categories ?? []) as string[]).find(one => !CATEGORIES.includes(one));
  if (unknown !== undefined)
    return badly(`JSON parse error: Cannot deserialize value of type Category from String "${unknown}"`);
  if (typeof body.timestampFrom !== 'number' || typeof body.timestampTo !== 'number')
    return badly('timestampFrom: must not be null');
  return plain(
    page(
      inWindow(console.log, ({ timestamp }) => timestamp, body),
      body,
    ),
  );
}

function trafficFlows({ console, body }: Asked): SimAnswer {
  const missing = FLOW_FILTERS.find(name => !Array.isArray(body[name]));
  if (missing !== undefined) return badly(`Validation failed: on field '${missing}': rejected value [null]`);
  const oddRisk = (body.risk as string[]).find(one => !RISKS.includes(one));
  if (oddRisk !== undefined)
    return badly(`JSON parse error: "${oddRisk}": not one of the values accepted: [low, medium, high]`);
  const oddAction = (body.action as string[]).find(one => !ACTIONS.includes(one));
  if (oddAction !== undefined)
    return badly(`JSON parse error: "${oddAction}": not one of the values accepted: [allowed, blocked]`);
  const size = Number(body.pageSize);
  if (!(size >= 1 && size <= 1_000)) return badly('pageSize: must be between 1 and 1000');
  const fits = inWindow(console.flows, ({ time }) => time, body)
    .filter(
      ({ action }) =>
        (body.action as string[]).length === 0 ||
        (body.action as string[]).some(word => action.toLowerCase().startsWith(word.slice(0, 5))),
    )
    .filter(({ risk }) => (body.risk as string[]).length === 0 || (body.risk as string[]).includes(risk))
    .filter(
      ({ source }) =>
        (body.source_mac as string[]).length === 0 ||
        (body.source_mac as string[]).includes(String((source as SimRecord).mac)),
    );
  const answer = page(fits, body);
  const saturated = Math.min(answer.total_element_count, 10_000);
  return plain({
    ...answer,
    total_element_count: saturated,
    has_next: answer.page_number + 1 < answer.total_page_count,
    or_more: answer.total_element_count > 10_000,
  });
}

/** The whole object or nothing: what is missing is told by name. */
function putWhole(collection: 'firewall-policies' | 'trafficrules' | 'trafficroutes', required: readonly string[]) {
  return ({ console, body, at }: Asked): SimAnswer => {
    const list = console.objects[collection];
    const old = list.find(({ _id }) => _id === at[1]);
    if (!old) return plain({ errorCode: 404, message: 'Object does not exist' }, 404);
    const missing = required.filter(name => body[name] === undefined);
    if (missing.length > 0)
      return badly(`Validation failed: ${missing.map(name => `${name}: must not be null`).join(', ')}`);
    if (old.predefined) return badly('api.err.FirewallPolicyPredefinedNotEditable');
    Object.assign(old, body);
    return plain(collection === 'firewall-policies' ? [old] : {});
  };
}

/** What the v2 API was seen to want of a new policy: whole ends in zones it knows, and one way for answers. */
function postPolicy({ console, body }: Asked): SimAnswer {
  if (console.refusesPoliciesAfter-- <= 0) return badly('api.err.FirewallPolicyLimitReached');
  const ends = ['source', 'destination'].map(name => body[name] as SimRecord | undefined);
  const missing = ['name', 'action', 'source', 'destination', 'ip_version'].filter(name => body[name] === undefined);
  if (missing.length > 0)
    return badly(`Validation failed: ${missing.map(name => `${name}: must not be null`).join(', ')}`);
  if (ends.some(one => !console.zones.some(({ _id }) => _id === one?.zone_id))) return badly('api.err.InvalidZone');
  if (body.action !== 'ALLOW' && body.create_allow_respond !== false)
    return badly('api.err.FirewallPolicyCreateRespondTrafficPolicyNotAllowed');
  for (const one of ends) {
    const target = String(one?.matching_target);
    const field = { IP: 'ips', WEB: 'web_domains', APP: 'app_ids', CLIENT: 'client_macs', ANY: undefined }[target];
    if (field === undefined && target !== 'ANY')
      return badly(`JSON parse error: "${target}": not one of the values accepted`);
    if (field !== undefined && !(Array.isArray(one?.[field]) && one[field].length > 0))
      return badly(`${field}: must not be empty`);
    if (target === 'IP' && one?.matching_target_type !== 'SPECIFIC')
      return badly('matching_target_type: must not be null');
    const ips = target === 'IP' ? (one as { ips?: string[] }).ips : [];
    const families = (ips ?? []).map(ip => (ip.includes(':') ? 'IPV6' : 'IPV4'));
    if (families.some(family => family !== body.ip_version)) return badly('api.err.FirewallPolicyIpVersionMismatch');
  }
  const policy = {
    ...body,
    _id: console.id('policy'),
    index: 10_000 + console.objects['firewall-policies'].length,
    predefined: false,
  };
  // Without a schedule it is taken, and not done.
  if (body.schedule !== undefined) console.objects['firewall-policies'].push(policy);
  return plain(policy);
}

function deletePolicies({ console, body }: Asked): SimAnswer {
  if (!Array.isArray(body)) return badly('JSON parse error: expected an array');
  const policies = console.objects['firewall-policies'];
  if (policies.some(({ _id, predefined }) => predefined && body.includes(_id)))
    return badly('api.err.FirewallPolicyPredefinedNotEditable');
  console.objects['firewall-policies'] = policies.filter(({ _id }) => !body.includes(_id));
  return plain(null);
}

const APPLICATIONS = [...Array(250).keys()].map(n => ({
  id: 65_536 + n,
  name: n === 230 ? 'Video Nasties' : `App ${n}`,
}));

function applications({ query }: Asked): SimAnswer {
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 25)];
  if (limit > 200) return integrationError(400, 'api.request.argument-out-of-range', 'limit must be at most 200');
  const data = APPLICATIONS.slice(offset, offset + limit);
  return plain({ offset, limit, count: data.length, totalCount: APPLICATIONS.length, data });
}

function putForward({ console, body, at }: Asked): SimAnswer {
  const old = console.objects.portforward.find(({ _id }) => _id === at[1]);
  if (!old) return refusal('api.err.IdInvalid');
  if (['name', 'dst_port', 'fwd', 'fwd_port'].some(name => body[name] === undefined))
    return refusal('api.err.InvalidPayload');
  Object.assign(old, body);
  console.message('portforward:sync', [old]);
  return fine([old]);
}

function putDevice({ console, body, at }: Asked): SimAnswer {
  const device = console.devices.find(({ _id }) => _id === at[1]);
  if (!device) return refusal('api.err.IdInvalid');
  const { led_override: led, port_overrides: ports, outlet_overrides: outlets } = body;
  if (led !== undefined && !['on', 'off', 'default'].includes(String(led))) return refusal('api.err.InvalidValue');
  const change: SimRecord = { ...body };
  if (Array.isArray(ports)) {
    const modes = ['auto', 'off', 'passthrough', '24v', 'pasv24'];
    if (ports.some(({ poe_mode: mode }) => mode !== undefined && !modes.includes(mode)))
      return refusal('api.err.InvalidValue');
    // The list is taken as it is: whoever leaves something out has erased it.
    change.port_table = (device.port_table as SimRecord[]).map(port => {
      const override = (ports as SimRecord[]).find(({ port_idx: index }) => index === port.port_idx);
      const mode = override?.poe_mode ?? 'auto';
      return port.port_poe
        ? { ...port, poe_mode: mode, ...(mode === 'off' && { poe_power: '0.00', poe_enable: false }) }
        : port;
    });
  }
  if (Array.isArray(outlets)) {
    change.outlet_table = (device.outlet_table as SimRecord[]).map(outlet => {
      const override = (outlets as SimRecord[]).find(({ index }) => index === outlet.index);
      return override ? { ...outlet, relay_state: override.relay_state } : outlet;
    });
  }
  console.changeDevice(String(device.mac), change);
  return fine([device]);
}

function stationCommand({ console, body }: Asked): SimAnswer {
  const mac = String(body.mac ?? '');
  const client = console.clients.find(one => one.mac === mac);
  if (!client) return refusal('api.err.UnknownStation');
  switch (body.cmd) {
    case 'block-sta':
    case 'unblock-sta':
      if (!console.ignoresBlocks) console.setBlocked(mac, body.cmd === 'block-sta');
      return fine();
    case 'kick-sta':
      if (client.isWired || !client.connected) return refusal('api.err.UnknownStation');
      console.disconnect(mac);
      console.connect(mac, { ap: client.ap });
      return fine();
    case 'authorize-guest':
    case 'unauthorize-guest':
      client.authorized = body.cmd === 'authorize-guest';
      console.connect(mac, { ap: client.ap, quietly: true });
      console.message(
        'sta:sync',
        console.stations().filter(row => (row as SimRecord).mac === mac),
      );
      if (client.authorized) console.event('EVT_HS_AuthedByNoAuth', { guest: mac });
      return fine();
    default:
      return refusal('api.err.InvalidCommand');
  }
}

function deviceCommand({ console, body }: Asked): SimAnswer {
  const device = console.devices.find(one => one.mac === body.mac);
  if (body.cmd === 'speedtest') {
    const status = {
      xput_download: 940.5,
      xput_upload: 510.25,
      latency: 8,
      rundate: Math.floor(console.now() / 1_000),
    };
    const gateway = console.devices.find(({ type }) => type === 'udm');
    if (!gateway) return refusal('api.err.NotFound', 404);
    console.changeDevice(String(gateway.mac), { 'speedtest-status': status });
    return fine();
  }
  if (!device) return refusal('api.err.UnknownDevice');
  const mac = String(device.mac);
  switch (body.cmd) {
    case 'restart':
      console.restartDevice(mac);
      return fine();
    case 'set-locate':
    case 'unset-locate':
      console.changeDevice(mac, { locating: body.cmd === 'set-locate' });
      return fine();
    case 'upgrade':
      console.upgradeDevice(mac, '7.1.66');
      return fine();
    case 'power-cycle': {
      const port = (device.port_table as SimRecord[]).find(({ port_idx: index }) => index === body.port_idx);
      if (!port?.port_poe) return refusal('api.err.InvalidTargetPort');
      console.setPort(mac, Number(body.port_idx), { poe_power: '0.00', up: false });
      console.setPort(mac, Number(body.port_idx), { poe_power: port.poe_power, up: true });
      return fine();
    }
    default:
      return refusal('api.err.InvalidCommand');
  }
}

function hotspotCommand({ console, body }: Asked): SimAnswer {
  if (body.cmd !== 'create-voucher') return refusal('api.err.InvalidCommand');
  if (!(Number(body.n) >= 1) || ![1, 60, 1_440].includes(Number(body.expire_unit)))
    return refusal('api.err.InvalidValue');
  const created = Math.floor(console.now() / 1_000);
  for (let i = 0; i < Number(body.n); i++) {
    const id = console.id('voucher');
    console.vouchers.push({
      _id: id,
      code: `12345${String(console.vouchers.length).padStart(5, '0')}`,
      create_time: created,
      duration: Number(body.expire_number) * Number(body.expire_unit),
      quota: body.quota,
      note: body.note ?? null,
      status: 'VALID_ONE',
      used: 0,
    });
  }
  console.event('EVT_AD_VoucherCreated', { admin: 'causeway' });
  return fine([{ create_time: created }]);
}

function backupCommand({ console, body }: Asked): SimAnswer {
  if (body.cmd === 'list-backups') return fine(console.backups);
  if (body.cmd !== 'backup') return refusal('api.err.InvalidCommand');
  const time = console.now();
  const filename = `network_backup_${time}.unf`;
  console.backups.push({
    filename,
    time,
    datetime: new Date(time).toISOString(),
    size: 1_048_576,
    version: VERSIONS[console.profile],
  });
  return fine([{ url: `/dl/backup/${filename}` }]);
}

/** Of so many hours, newest first. */
function listEvents({ console, body: { within, _start: start = 0, _limit: limit = 3_000 } }: Asked): SimAnswer {
  const from = console.now() - Number(within ?? 720) * 3_600_000;
  const rows = console.events.filter(({ time }) => Number(time) >= from).reverse();
  return fine(rows.slice(Number(start), Number(start) + Number(limit)));
}

/** Gone with Network 10. */
const retired = (answer: (asked: Asked) => SimAnswer) => (asked: Asked) =>
  asked.console.profile === 'network10' ? refusal('api.err.InvalidObject', 404) : answer(asked);

/** Every route. */
export const routes: readonly Route[] = [
  [
    'GET',
    /^\/proxy\/network\/api\/self\/sites$/,
    () => fine([{ _id: 'site-1', name: 'default', desc: 'Home', role: 'admin' }]),
  ],
  legacy('GET', 'stat/sysinfo', ({ console }) =>
    fine([
      {
        version: VERSIONS[console.profile],
        hostname: 'sim-console',
        name: 'Sim console',
        timezone: 'Europe/Berlin',
        uptime: console.uptimeS,
        ubnt_device_type: 'UDMPRO',
        update_available: false,
        sso_app_sec: 'never-to-be-seen',
      },
    ]),
  ),
  legacy('GET', 'stat/device', ({ console }) => fine([...console.devices, ...console.oddRows])),
  legacy('GET', 'stat/device/([^/]+)', ({ console, at }) => fine(console.devices.filter(({ mac }) => mac === at[1]))),
  legacy('GET', 'stat/sta', ({ console }) => fine(console.stations())),
  legacy('GET', 'rest/user', ({ console }) => fine(console.users())),
  legacy('GET', 'rest/wlanconf', ({ console }) => fine(console.wlans)),
  legacy('GET', 'rest/networkconf', ({ console }) => fine(console.networks)),
  legacy('GET', 'rest/portforward', ({ console }) => fine(console.objects.portforward)),
  legacy('GET', 'stat/health', ({ console }) => fine(simHealth(console))),
  legacy('GET', 'stat/voucher', ({ console }) => fine(console.vouchers)),
  legacy('POST', 'stat/event', retired(listEvents)),
  legacy('POST', 'cmd/stamgr', stationCommand),
  legacy('POST', 'cmd/devmgr', deviceCommand),
  legacy('POST', 'cmd/hotspot', hotspotCommand),
  legacy('POST', 'cmd/backup', backupCommand),
  legacy('PUT', 'rest/wlanconf/([^/]+)', ({ console, at, body }) => {
    if (!console.wlans.some(({ _id }) => _id === at[1])) return refusal('api.err.IdInvalid');
    console.setWlan(at[1] as string, Boolean(body.enabled));
    return fine();
  }),
  legacy('PUT', 'rest/portforward/([^/]+)', putForward),
  legacy('PUT', 'rest/device/([^/]+)', putDevice),
  internal('GET', 'firewall-policies', ({ console }) => plain(console.objects['firewall-policies'])),
  internal('GET', 'trafficrules', ({ console }) => plain(console.objects.trafficrules)),
  internal('GET', 'trafficroutes', ({ console }) => plain(console.objects.trafficroutes)),
  internal('GET', 'firewall/zone', ({ console }) => plain(console.zones)),
  internal('POST', 'firewall-policies', postPolicy),
  internal('POST', 'firewall-policies/batch-delete', deletePolicies),
  internal(
    'PUT',
    'firewall-policies/([^/]+)',
    putWhole('firewall-policies', ['name', 'action', 'schedule', 'source', 'destination', 'ip_version']),
  ),
  internal(
    'PUT',
    'trafficrules/([^/]+)',
    putWhole('trafficrules', ['action', 'matching_target', 'target_devices', 'schedule']),
  ),
  internal(
    'PUT',
    'trafficroutes/([^/]+)',
    putWhole('trafficroutes', ['matching_target', 'network_id', 'target_devices']),
  ),
  internal('GET', 'wan/load-balancing/status', ({ console }) => plain({ wan_interfaces: console.wans })),
  internal('POST', 'system-log/all', systemLog),
  internal('POST', 'traffic-flows', trafficFlows),
  official('GET', 'dpi/applications', applications),
  official('GET', 'info', ({ console }) => plain({ applicationVersion: VERSIONS[console.profile] })),
  official('GET', 'sites', ({ query }) => {
    const limit = Number(query.get('limit') ?? 25);
    if (limit > 200) return integrationError(400, 'api.request.argument-out-of-range', 'limit must be at most 200');
    return plain({
      offset: 0,
      limit,
      count: 1,
      totalCount: 1,
      data: [{ id: SITE_ID, internalReference: 'default', name: 'Home' }],
    });
  }),
];
