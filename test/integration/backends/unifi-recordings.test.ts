// Recorded answers and messages of real consoles through the real backend.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { coerce } from '../../../src/model/value.ts';
import { eventually } from '../../kit/eventually.ts';
import { recordingsOf } from '../../kit/recordings.ts';
import { certificate } from '../../simulators/unifi/index.ts';
import { recorder } from '../../unit/backends/kit.ts';
import { jumpingClock } from './clock.ts';
import { backendAt, type Settings, valuesOf } from './unifi-kit.ts';

const { isThere, read } = recordingsOf('unifi');
// biome-ignore lint/suspicious/noExplicitAny: recordings have the shapes that they have
const recorded = (name: string): any => read(name);

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

const L = '/proxy/network/api/s/default';
const V = '/proxy/network/v2/api/site/default';
const rows = (...data: unknown[]) => ({ meta: { rc: 'ok' }, data });

/** When the recordings of clients were made, as far as the one tells that is asked for. */
const clockOf = (epochSeconds: number) => new Date(epochSeconds * 1_000).toUTCString();

/** The backend at a server that answers with recordings. */
async function stage(answers: Record<string, unknown>, date: string, settings: Settings = {}) {
  const all: Record<string, unknown> = {
    '/api/auth/login': recorded('login-unifios-json-response'),
    '/proxy/network/api/self/sites': recorded('site-response'),
    [`${L}/stat/sysinfo`]: rows(recorded('system-information')),
    [`${L}/stat/sta`]: rows(),
    [`${L}/stat/device`]: rows(),
    // A console that knows of nothing at all is starting.
    [`${L}/rest/user`]: rows({ mac: '00:00:5e:00:53:99', name: 'Somebody' }),
    [`${L}/rest/wlanconf`]: rows(),
    [`${L}/stat/health`]: recorded('stat-health'),
    [`${V}/wan/load-balancing/status`]: recorded('wan-load-balancing-status'),
  };
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'https://console');
    const body = answers[pathname] ?? all[pathname];
    response.setHeader('date', date);
    response.setHeader('set-cookie', 'TOKEN=e30.e30.x; Path=/');
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { error: { code: 404, message: 'Not Found' } }));
  });
  const sockets = new WebSocketServer({ server });
  const open: WebSocket[] = [];
  sockets.on('connection', socket => open.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = jumpingClock();
  const backend = backendAt({ url, apiKey: 'k', password: 'p' }, settings, { clock });
  const sink = recorder();
  ends.push(async () => {
    for (const socket of open) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  ends.push(() => backend.stop());
  await backend.start(sink);
  const push = async (...messages: unknown[]) => {
    await eventually(() => open.length > 0, 'the socket');
    const before = backend.counters.messages;
    for (const message of messages) open[0]?.send(JSON.stringify(message));
    await eventually(() => backend.counters.messages === before + messages.length, 'the messages');
  };
  const text = () => JSON.stringify([sink.reports, [...sink.declared.values()]]);
  return { backend, sink, push, text, clock };
}

const misfits = ({ declared, reports }: ReturnType<typeof recorder>) =>
  reports.filter(report => {
    if (report.type !== 'value') return false;
    const type = declared.get(report.device)?.attributes[report.attribute];
    return !type || !coerce(report.value, type).ok;
  });

const DEVICES = [
  'access-point-ac-pro',
  'gateway-usg3',
  'switch-16-port-poe',
  'switch-8-port',
  'switch-flex-mini-5-port',
  'plug-up1',
  'strip-up6',
  'pdu-pro',
  'legacy-uap',
  'legacy-ugw',
  'legacy-usw',
  'legacy-pdu',
];

describe.skipIf(!isThere)('the recordings', () => {
  test('of devices give devices with typed values, none of them a misfit, and no secret', async () => {
    // Two of them were anonymised to one address.
    const devices = DEVICES.map((name, i) => ({ ...recorded(name), mac: `00:00:5e:00:53:${(0x10 + i).toString(16)}` }));
    const { sink, backend, text } = await stage({ [`${L}/stat/device`]: rows(...devices) }, clockOf(1_588_175_730));
    expect([...sink.declared.keys()].filter(id => id.startsWith('unifi:device:'))).toHaveLength(DEVICES.length);
    expect(misfits(sink)).toEqual([]);
    expect(backend.counters).toMatchObject({ unreadable: 0, misfits: 0 });
    expect(text()).not.toMatch(/REDACTED|x_authkey|syslog_key/);
  });

  test('of a switch give its ports, of a PDU its outlets and what they draw', async () => {
    const [hub, pdu, plug] = [recorded('switch-16-port-poe'), recorded('pdu-pro'), recorded('plug-up1')];
    const { sink } = await stage({ [`${L}/stat/device`]: rows(hub, pdu, plug) }, clockOf(1_588_175_730));
    expect(valuesOf(sink, `unifi:device:${hub.mac}`)).toMatchObject({
      connectivity: 'online',
      temperature: 56,
      cpu: 100,
      memory: 49.3,
      updateVersion: '4.0.80.10875',
      'port:1:link': 'up',
      'port:1:poe': 'auto',
      'port:1:power': 0,
    });
    expect(valuesOf(sink, `unifi:device:${pdu.mac}`)).toMatchObject({ power: 307.741, 'outlet:1:switch': 'on' });
    expect(valuesOf(sink, `unifi:device:${plug.mac}`)).toMatchObject({ switch: 'off' });
    expect(sink.declared.get(`unifi:device:${plug.mac}`)?.capabilities).toEqual(['connectivity', 'switch']);
  });

  test('of a wireless and a wired client give where they are', async () => {
    const [wireless, wired] = [recorded('wireless-client'), recorded('wired-client')];
    const first = await stage({ [`${L}/stat/sta`]: rows(wireless) }, clockOf(wireless.last_seen + 5));
    expect(first.sink.declared.get(`unifi:client:${wireless.mac}`)?.name).toBe('Client 1');
    expect(valuesOf(first.sink, `unifi:client:${wireless.mac}`)).toMatchObject({
      presence: 'present',
      connectivity: 'online',
      accessPoint: wireless.ap_mac,
      ssid: 'SSID',
      channel: 44,
      access: 'allowed',
    });
    const second = await stage({ [`${L}/stat/sta`]: rows(wired) }, clockOf(wired.last_seen + 5));
    expect(second.sink.declared.get(`unifi:client:${wired.mac}`)?.name).toBe('camera-acccde123456');
    expect(valuesOf(second.sink, `unifi:client:${wired.mac}`)).toMatchObject({
      wired: true,
      wiredTo: wired.sw_mac,
      port: 3,
    });
    for (const { sink, backend } of [first, second]) {
      expect(misfits(sink)).toEqual([]);
      expect(backend.counters.unreadable).toBe(0);
    }
  });

  test('of WLANs and WANs give switches and lines, without their passphrases', async () => {
    const { sink, text } = await stage({ [`${L}/rest/wlanconf`]: rows(...recorded('wlans')) }, clockOf(1_700_000_000));
    expect(valuesOf(sink, 'unifi:wlan:012345678910111213141516')).toMatchObject({ switch: 'on', security: 'wpapsk' });
    expect(valuesOf(sink, 'unifi:wan:WAN')).toMatchObject({ connectivity: 'online', active: true, latency: 9 });
    expect(valuesOf(sink, 'unifi:wan:WAN2')).toMatchObject({ state: 'backup', active: false });
    expect(sink.declared.get('unifi:wan:WAN2')?.name).toBe('Internet 2');
    expect(valuesOf(sink, 'unifi:site:default')).toMatchObject({
      wwwStatus: 'ok',
      vpnStatus: 'error',
      version: '7.4.162',
    });
    expect(text()).not.toContain('REDACTED');
  });

  test('of events of clients: the comings of one, and the ghost of the wired bug', async () => {
    const wireless = recorded('wireless-client');
    const [connected, disconnected] = ['connected', 'disconnected'].map(word =>
      recorded(`event-wireless-client-${word}`),
    );
    const answers = { [`${L}/stat/sta`]: rows(wireless) };
    const { sink, push } = await stage(answers, clockOf(wireless.last_seen));
    sink.take();
    await push(disconnected, connected);
    await push(recorded('event-wireless-client-wired-connected'), recorded('event-wireless-client-wired-disconnected'));
    expect(sink.take()).toEqual([]);
    answers[`${L}/stat/sta`] = rows();
    await push(recorded('message-wireless-client-removed'));
    expect(sink.take()).toEqual([`removed: unifi:client:${wireless.mac}`]);
  });

  test('of events of a switch', async () => {
    const hub = recorded('switch-16-port-poe');
    const { sink, push } = await stage({ [`${L}/stat/device`]: rows(hub) }, clockOf(1_588_175_730));
    sink.take();
    await push(
      ...['lost-contact', 'connected', 'restarted-unkown', 'upgraded'].map(word => recorded(`event-switch-16-${word}`)),
    );
    const id = `unifi:device:${hub.mac}`;
    expect(sink.take().filter(line => line.includes('!'))).toEqual([
      `${id}!offline={}`,
      `${id}!online={}`,
      `${id}!restarted={}`,
      `${id}!upgraded={"from":"4.0.66.10832","to":"4.3.13.11253"}`,
    ]);
  });

  test('of intrusions and of many events of older consoles', async () => {
    const { sink, push, backend } = await stage({}, clockOf(1_592_400_000));
    await push({ meta: { rc: 'ok', message: 'events' }, data: recorded('legacy-events') });
    const threat = sink.reports.find(report => report.type === 'event' && report.name === 'threat');
    expect(threat).toMatchObject({ device: 'unifi:site:default', value: { sourceIp: '192.168.1.199' } });
    expect([...backend.counters.unknownKinds]).toEqual([]);
  });

  test('of the system log', async () => {
    const log = recorded('system-log-events');
    const newest = Math.max(...log.data.map(({ timestamp }: { timestamp: number }) => timestamp));
    const { sink, clock } = await stage({ [`${V}/system-log/all`]: log }, clockOf(Math.floor(newest / 1_000) - 8));
    await clock.jump(11_000);
    await eventually(() => sink.lines.some(line => line.includes('!threat=')), 'the log');
    const told = sink.lines.filter(line => line.startsWith('unifi:site:default!'));
    expect(told[0]).toMatch(/!blockedByFirewall=.*"name":"Lab-Camera".*block cameras to external/);
    expect(told[1]).toMatch(/!threat=.*"ip":"198.51.100.99"/);
    expect(valuesOf(sink, 'unifi:client:aa:bb:cc:00:00:03')).toMatchObject({ presence: 'present' });
  });
});
