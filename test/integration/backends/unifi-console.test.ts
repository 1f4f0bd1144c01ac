// The simulated console is as strict as real ones are: what it lets pass, they would.
import { Agent, request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../kit/eventually.ts';
import { type ConsoleOptions, certificate, DEVICE, startConsole } from '../../simulators/unifi/index.ts';

const L = '/proxy/network/api/s/default';
const V = '/proxy/network/v2/api/site/default';
const SOCKET = '/proxy/network/wss/s/default/events';

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function stage(options: ConsoleOptions = {}) {
  const console = await startConsole(options);
  const tls = { ca: certificate.cert, servername: 'unifi.local' };
  const dispatcher = new Agent({ connect: tls });
  ends.push(() => console.stop());
  ends.push(() => dispatcher.destroy());
  const ask = async (
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    headers: Record<string, string> = {},
    body?: object,
  ) => {
    const answer = await request(console.url + path, {
      method,
      dispatcher,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
    return { status: answer.statusCode, headers: answer.headers, json };
  };
  const key = { 'x-api-key': console.apiKey };
  const login = async (password = console.password) => {
    const { status, headers } = await ask('POST', '/api/auth/login', {}, { username: 'causeway', password });
    const cookie = [headers['set-cookie'] ?? ''].flat()[0]?.split(';')[0] ?? '';
    return { status, cookie, csrf: String(headers['x-csrf-token'] ?? '') };
  };
  return { console, ask, key, login, tls };
}

const kick = { cmd: 'kick-sta', mac: '00:00:5e:00:53:01' };

describe('the simulated console', () => {
  test('knows no path that real ones do not have', async () => {
    const { ask, key, console } = await stage();
    expect((await ask('GET', `${L}/stat/sta`, key)).json.meta).toEqual({ rc: 'ok' });
    expect((await ask('GET', `${L}/stat/flows`, key)).status).toBe(404);
    expect((await ask('POST', `${L}/stat/sta`, key, {})).status).toBe(404);
    expect(console.strangers).toEqual([`GET ${L}/stat/flows`, `POST ${L}/stat/sta`]);
  });

  test('tells a wrong site in the way of each surface', async () => {
    const { ask, key } = await stage();
    expect((await ask('GET', '/proxy/network/api/s/other/stat/sta', key)).json.meta.msg).toBe('api.err.NoSiteContext');
    expect((await ask('GET', '/proxy/network/v2/api/site/other/trafficrules', key)).json.errorCode).toBe(404);
  });

  test('takes a cookie, and commands only with the CSRF token of it', async () => {
    const { ask, login } = await stage();
    const { cookie, csrf } = await login();
    expect((await ask('GET', `${L}/stat/sta`, { cookie })).status).toBe(200);
    expect((await ask('POST', `${L}/cmd/stamgr`, { cookie }, kick)).status).toBe(403);
    expect((await ask('POST', `${L}/cmd/stamgr`, { cookie, 'x-csrf-token': csrf }, kick)).status).toBe(200);
  });

  test('ends sessions after their time', async () => {
    let now = 1_800_000_000_000;
    const { ask, login } = await stage({ now: () => now, sessionMs: 60_000 });
    const { cookie } = await login();
    now += 61_000;
    expect((await ask('GET', `${L}/stat/sta`, { cookie })).status).toBe(401);
  });

  test('refuses logins after the fifth within a minute', async () => {
    const { login } = await stage();
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await login('wrong')).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429]);
    expect((await login()).status).toBe(429);
  });

  test('takes an API key on HTTP, and none on the socket', async () => {
    const { console, key, tls, login } = await stage();
    const open = (headers: Record<string, string>) =>
      new Promise<string>(resolve => {
        const socket = new WebSocket(console.url.replace('https', 'wss') + SOCKET, { ...tls, headers });
        socket.on('open', () => {
          socket.terminate();
          resolve('open');
        });
        socket.on('error', error => resolve(error.message));
      });
    expect(await open(key)).toMatch(/401/);
    expect(await open({ cookie: (await login()).cookie })).toBe('open');
  });

  test('wants every filter of flows, and knows three risks', async () => {
    const { ask, key, console } = await stage();
    console.state.flow();
    const filters = Object.fromEntries(
      'risk action direction protocol policy policy_type service source_host source_mac source_ip source_port source_network_id source_domain source_zone_id source_region destination_host destination_mac destination_ip destination_port destination_network_id destination_domain destination_zone_id destination_region in_network_id out_network_id next_ai_query except_for'
        .split(' ')
        .map(name => [name, []]),
    );
    const body = { ...filters, timestampFrom: 0, timestampTo: 4e12, pageNumber: 0, pageSize: 100 };
    expect((await ask('POST', `${V}/traffic-flows`, key, body)).json.data).toHaveLength(1);
    expect((await ask('POST', `${V}/traffic-flows`, key, { ...body, risk: undefined })).status).toBe(400);
    const critical = await ask('POST', `${V}/traffic-flows`, key, { ...body, risk: ['critical'] });
    expect(critical.json).toMatchObject({ errorCode: 400, message: expect.stringContaining('[low, medium, high]') });
  });

  test('takes policies whole or not at all', async () => {
    const { ask, key, console } = await stage();
    const [policy] = console.state.objects['firewall-policies'];
    const path = `${V}/firewall-policies/${policy?._id}`;
    const part = await ask('PUT', path, key, { enabled: false });
    expect(part).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('schedule: must not be null') },
    });
    expect((await ask('PUT', path, key, { ...policy, enabled: false })).status).toBe(200);
  });

  test('pushes what a command has changed', async () => {
    const { ask, key, console, login, tls } = await stage();
    const { cookie } = await login();
    const got: string[] = [];
    const socket = new WebSocket(console.url.replace('https', 'wss') + SOCKET, { ...tls, headers: { cookie } });
    socket.on('message', data => got.push(JSON.parse(String(data)).meta.message));
    await eventually(() => console.sockets === 1, 'the socket');
    await ask('POST', `${L}/cmd/devmgr`, key, { cmd: 'set-locate', mac: DEVICE.hall });
    await eventually(() => got.includes('device:sync'), 'device:sync');
    socket.terminate();
  });

  test('has a log in the place of events as Network 10, and events as Network 9', async () => {
    const asked = { timestampFrom: 0, timestampTo: 4e12, pageNumber: 0, pageSize: 100 };
    const statuses = async ({ ask, key }: Pick<Awaited<ReturnType<typeof stage>>, 'ask' | 'key'>) => [
      (await ask('POST', `${L}/stat/event`, key, {})).status,
      (await ask('POST', `${V}/system-log/all`, key, asked)).status,
    ];
    expect(await statuses(await stage({ profile: 'network9' }))).toEqual([200, 404]);
    expect(await statuses(await stage({ profile: 'network10' }))).toEqual([404, 200]);
  });
});
