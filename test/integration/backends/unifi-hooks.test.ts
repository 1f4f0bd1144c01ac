// Webhooks of a console over real HTTP: who is let in, what comes twice, what is too old or too much, and what becomes of them.
import { afterEach, describe, expect, test } from 'vitest';
import { UnifiSchema } from '../../../src/backends/unifi/index.ts';
import type { HookCall } from '../../../src/model/hook.ts';
import { eventually } from '../../kit/eventually.ts';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';
import { ring, sendAlarm, sendSigned, signatureOf } from '../../simulators/unifi/alarms.ts';
import { CLIENT } from '../../simulators/unifi/index.ts';
import { passing } from './clock.ts';
import { stageConsole } from './unifi-kit.ts';

const SECRET = 'the key of a sender that signs';
const PATH = 'x7Qp-2mVt_9LwZ4kR';
const SITE = 'unifi:site:default';
const MINUTE = 60_000;

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** A console, its backend, and an HTTP server that hands it its webhooks; somebody has a credential. */
async function stage({
  webhook = { secret: SECRET, path: PATH },
  ...options
}: Parameters<typeof stageConsole>[0] & {
  webhook?: { secret?: string; path?: string };
} = {}) {
  const staged = await stageConsole({ ...options, settings: { ...options?.settings, webhook } });
  ends.push(staged.end);
  const { backend, clock, sink, console } = staged;
  const systemHook = async (id: string, call: HookCall) => (id === 'unifi' ? backend.hook?.(call) : undefined);
  const gateway: FakeGateway = await startGateway({ people: [person('otto', 'read')], parts: { systemHook, clock } });
  ends.push(() => gateway.stop());
  const signed = `${gateway.url}/hooks/unifi/signed`;
  const secret = `${gateway.url}/hooks/unifi/${PATH}`;
  return {
    ...staged,
    signed,
    secret,
    /** Values of the alarms so far. */
    alarms: () =>
      sink.reports.flatMap(report =>
        report.type === 'event' && report.device === SITE && report.name === 'alarm' ? [report.value as Told] : [],
      ),
    consoleNow: () => console.state.now(),
    tell: (event: object) => sendSigned(signed, SECRET, event),
    post: (body?: string | Uint8Array, type?: string) =>
      sendAlarm(secret, {
        ...(body !== undefined && { body }),
        ...(type !== undefined && { headers: { 'Content-Type': type } }),
      }),
    /** What a signed body with such a header is answered. */
    withSignature: (signature: string | undefined, body = OFFLINE) =>
      sendAlarm(signed, { body, headers: signature === undefined ? {} : { 'X-UniFi-Signature': signature } }),
  };
}

interface Told {
  readonly source: string;
  readonly type: string;
  readonly title?: string;
  readonly id?: string;
  readonly data: unknown;
  readonly cut?: true;
}

const OFFLINE = JSON.stringify({ event_type: 'device.offline', data: { mac: '00:00:5e:00:53:10' } });
const RIGHT = signatureOf(OFFLINE, SECRET);
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('a signed call', () => {
  test('is told with what it says', async () => {
    const { tell, alarms, consoleNow } = await stage();
    const event = {
      event_type: 'device.offline',
      event_id: 'e-1',
      site_id: 'default',
      timestamp: new Date(consoleNow()).toISOString(),
      data: { mac: '00:00:5e:00:53:10', x_passphrase: 'never told' },
      origin: 'another one of them',
    };
    expect(await tell(event)).toMatchObject({ status: 202, json: { status: 'accepted' } });
    expect(alarms()).toEqual([
      { source: 'signed', type: 'device.offline', id: 'e-1', site: 'default', data: { mac: '00:00:5e:00:53:10' } },
    ]);
  });

  test('wants the signature of its very bytes, in hex of either case', async () => {
    const { withSignature, alarms, pass } = await stage();
    expect((await withSignature(RIGHT)).status).toBe(202);
    expect((await withSignature(RIGHT.toUpperCase())).status).toBe(202);
    const wrong: Record<string, string | undefined> = {
      missing: undefined,
      empty: '',
      'of another key': signatureOf(OFFLINE, `${SECRET} `),
      'one digit short': RIGHT.slice(1),
      'one digit long': `${RIGHT}0`,
      'with a word before it': `sha256=${RIGHT}`,
      'no hex': 'g'.repeat(64),
      twice: `${RIGHT}, ${RIGHT}`,
      'all zeros': '0'.repeat(64),
    };
    for (const [what, signature] of Object.entries(wrong)) {
      expect([what, await withSignature(signature)]).toMatchObject([
        what,
        { status: 401, json: { error: { code: 'UNAUTHENTICATED' } } },
      ]);
      await pass(MINUTE);
    }
    for (const body of [`${OFFLINE} `, OFFLINE.replace('10', '11'), OFFLINE.slice(1), '']) {
      expect((await withSignature(RIGHT, body)).status).toBe(401);
      await pass(MINUTE);
    }
    expect(alarms()).toHaveLength(2);
  });

  test('is none with GET, nor where no key is set', async () => {
    const { signed } = await stage({ webhook: { path: PATH } });
    expect((await sendAlarm(signed, { body: OFFLINE, headers: { 'X-UniFi-Signature': RIGHT } })).status).toBe(401);
    expect(
      (await sendAlarm(signed, { body: '{}', headers: { 'X-UniFi-Signature': signatureOf('{}', '') } })).status,
    ).toBe(401);
    const other = await stage();
    const headers = { 'X-UniFi-Signature': signatureOf('', SECRET) };
    expect((await sendAlarm(other.signed, { method: 'GET', headers })).status).toBe(401);
  });

  test('that is no JSON, or not what it should be, is refused with what to do', async () => {
    const { withSignature, alarms } = await stage();
    const bodies: [string, string][] = [
      ['', 'no JSON'],
      ['{"event_type":', 'no JSON'],
      ['[]', 'the body'],
      ['null', 'the body'],
      ['{}', 'event_type'],
      ['{"event_type":"offline"}', 'event_type'],
      ['{"event_type":7}', 'event_type'],
      [`{"event_type":"a.${'b'.repeat(200)}"}`, 'event_type'],
      ['{"event_type":"a.b","event_id":{}}', 'event_id'],
      ['{"event_type":"a.b","timestamp":"yesterday"}', 'timestamp'],
      ['{"event_type":"a.b","timestamp":-1}', 'timestamp'],
    ];
    for (const [body, says] of bodies) {
      const { status, json } = await withSignature(signatureOf(body, SECRET), body);
      expect([body, status, json.error?.code]).toEqual([body, 400, 'INPUT_INVALID']);
      expect(json.error?.message).toContain(says);
      expect(json.error?.hint).toMatch(/send/);
    }
    expect(alarms()).toEqual([]);
  });

  test('comes twice and is told once, for five minutes', async () => {
    const { tell, alarms, pass } = await stage();
    const event = { event_type: 'client.connected', event_id: 'e-1' };
    expect((await tell(event)).status).toBe(202);
    await pass(4 * MINUTE);
    expect(await tell({ ...event, data: 'again' })).toMatchObject({ status: 200, json: { status: 'duplicate' } });
    expect((await tell({ ...event, event_id: 'e-2' })).status).toBe(202);
    await pass(MINUTE + 1_000);
    expect((await tell(event)).status).toBe(202);
    expect(alarms().map(({ id }) => id)).toEqual(['e-1', 'e-2', 'e-1']);
  });

  test('is told once, too, when both come at once', async () => {
    const { tell, alarms, backend } = await stage();
    const answers = await Promise.all([1, 2, 3].map(() => tell({ event_type: 'a.b', event_id: 7 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 202]);
    expect(alarms()).toHaveLength(1);
    // The server has the calls of one address wait for each other; those of two come like this.
    const body = Buffer.from('{"event_type":"a.b","event_id":8}');
    const headers = { 'x-unifi-signature': signatureOf(body, SECRET) };
    const call: HookCall = { path: 'signed', method: 'POST', headers, query: {}, body };
    const both = await Promise.all([backend.hook?.(call), backend.hook?.(call)]);
    expect(both.map(answer => answer?.status)).toEqual([202, 200]);
    expect(alarms()).toHaveLength(2);
  });

  test('without an id is known by its bytes where they hold a time, and is another one each time where they do not', async () => {
    const { tell, consoleNow } = await stage();
    const timed = { event_type: 'a.b', timestamp: consoleNow() };
    expect([(await tell(timed)).status, (await tell(timed)).status]).toEqual([202, 200]);
    expect((await tell({ ...timed, timestamp: timed.timestamp + 1 })).status).toBe(202);
    expect([(await tell({ event_type: 'a.b' })).status, (await tell({ event_type: 'a.b' })).status]).toEqual([
      202, 202,
    ]);
    expect([(await tell({ event_type: 'a.b', event_id: '' })).status]).toEqual([202]);
  });

  test('that somebody has overheard can never be played again', async () => {
    const { tell, alarms, pass, consoleNow } = await stage();
    // As far in the future as is taken: it stays fresh for twenty minutes.
    const event = { event_type: 'a.b', event_id: 'e', timestamp: consoleNow() + 9.9 * MINUTE };
    const heard: number[] = [(await tell(event)).status];
    for (let minute = 0; minute < 24; minute += 4) {
      await pass(4 * MINUTE);
      heard.push((await tell(event)).status);
    }
    expect(heard).toEqual([202, 200, 200, 200, 200, 400, 400]);
    expect(alarms()).toHaveLength(1);
  }, 30_000);

  test('is too old or too young beyond ten minutes, by the console’s clock and in whichever form', async () => {
    const { tell, consoleNow, clock } = await stage({ now: () => Date.parse('2031-05-06T07:08:09Z') });
    expect(Math.abs(consoleNow() - clock.now())).toBeGreaterThan(365 * 24 * 60 * MINUTE);
    const iso = (ms: number) => new Date(consoleNow() + ms).toISOString();
    const forms: Record<string, (ms: number) => string | number> = {
      ms: ms => consoleNow() + ms,
      s: ms => Math.round((consoleNow() + ms) / 1_000),
      'text of s': ms => String(Math.round((consoleNow() + ms) / 1_000)),
      ISO: iso,
      'ISO without a zone': ms => iso(ms).slice(0, 19),
      'with a space': ms => iso(ms).slice(0, 16).replace('T', ' '),
      'with microseconds': ms => `${iso(ms).slice(0, 19)}.123456+00:00`,
    };
    for (const [form, at] of Object.entries(forms)) {
      for (const [minutes, status] of [
        [-12, 400],
        [-8, 202],
        [8, 202],
        [12, 400],
      ] as const) {
        const answer = await tell({
          event_type: 'a.b',
          event_id: `${form} ${minutes}`,
          timestamp: at(minutes * MINUTE),
        });
        expect([form, minutes, answer.status]).toEqual([form, minutes, status]);
      }
    }
  });
});

describe('a call of the Alarm Manager', () => {
  test('is told as far as it says what it is, whatever it is made of', async () => {
    const { post, secret, alarms, consoleNow } = await stage();
    const last = () => alarms().at(-1);
    expect(await ring(secret, 'Somebody at the gate', 'motion', consoleNow())).toMatchObject({ status: 202 });
    expect(last()).toMatchObject({
      source: 'alarm_manager',
      type: 'motion',
      title: 'Somebody at the gate',
      data: { alarm: { triggers: [{ key: 'motion' }] } },
    });
    await post('{"event":"wan_down","message":"WAN is down","alarm_id":42}', 'text/plain');
    expect(last()).toMatchObject({ type: 'wan_down', title: 'WAN is down', id: '42' });
    await post('WAN is down', 'text/plain');
    expect(last()).toEqual({ source: 'alarm_manager', type: 'alarm', data: 'WAN is down' });
    await post('{"event":', 'application/json');
    expect(last()).toEqual({ source: 'alarm_manager', type: 'alarm', data: '{"event":' });
    await post('type=door&title=Open&door=1&door=2', 'application/x-www-form-urlencoded');
    expect(last()).toMatchObject({ type: 'door', title: 'Open', data: { door: ['1', '2'] } });
    await post('not a form', 'multipart/form-data; boundary=x');
    expect(last()).toEqual({ source: 'alarm_manager', type: 'alarm', data: 'not a form' });
    await post();
    expect(last()).toEqual({ source: 'alarm_manager', type: 'alarm', data: null });
    for (const data of ['null', '7', '[1]', '"text"']) {
      expect((await post(data)).status).toBe(202);
      expect(last()).toMatchObject({ type: 'alarm', data: JSON.parse(data) });
    }
    await sendAlarm(secret, { method: 'GET' });
    expect(last()).toEqual({ source: 'alarm_manager', type: 'alarm', data: null });
    await sendAlarm(`${secret}?type=wan&title=WAN%20down&id=1`, { method: 'GET' });
    expect(last()).toMatchObject({ type: 'wan', title: 'WAN down', data: { type: 'wan', id: '1' } });
  });

  test('rings each time, though its address is always the same', async () => {
    const { secret, alarms } = await stage();
    for (let i = 0; i < 3; i++) await sendAlarm(`${secret}?type=wan&id=1`, { method: 'GET' });
    expect(alarms()).toHaveLength(3);
  });

  test('that is repeated is told once; the same alarm of another time is another one', async () => {
    const { post, secret, alarms, consoleNow } = await stage();
    const at = consoleNow();
    expect((await ring(secret, 'Gate', 'motion', at)).status).toBe(202);
    expect(await ring(secret, 'Gate', 'motion', at)).toMatchObject({ status: 200, json: { status: 'duplicate' } });
    expect((await ring(secret, 'Gate', 'motion', at + 1)).status).toBe(202);
    const withId = (more: object) => post(JSON.stringify({ id: 'gate', ...more }));
    expect([(await withId({})).status, (await withId({ n: 2 })).status]).toEqual([202, 200]);
    expect([(await withId({ timestamp: at })).status, (await withId({ timestamp: at, n: 2 })).status]).toEqual([
      202, 200,
    ]);
    expect((await withId({ timestamp: at + 1 })).status).toBe(202);
    expect(alarms()).toHaveLength(5);
  });

  test('is let in by its path alone, to the letter', async () => {
    const { secret, pass, alarms } = await stage();
    const wrong = [
      secret.slice(0, -1),
      `${secret}x`,
      secret.toLowerCase(),
      secret.replace('_', '%5f'),
      secret.replace('x7', 'x8'),
    ];
    const statuses: number[] = [];
    for (const address of wrong) {
      statuses.push((await sendAlarm(address)).status);
      await pass(MINUTE);
    }
    // An escaped underscore is one.
    expect(statuses).toEqual([404, 404, 404, 202, 404]);
    expect(alarms()).toHaveLength(1);
    const { secret: none } = await stage({ webhook: { secret: SECRET } });
    expect((await sendAlarm(none)).status).toBe(404);
  });

  test('lets nobody guess its path', async () => {
    const { secret, alarms, pass } = await stage();
    const tries: number[] = [];
    for (let i = 0; i < 7; i++) tries.push((await sendAlarm(`${secret}${i}`)).status);
    expect(tries).toEqual([404, 404, 404, 404, 404, 429, 429]);
    const { status, retryAfter } = await sendAlarm(secret);
    expect([status, (retryAfter ?? 0) > 50]).toEqual([429, true]);
    await pass(61_000);
    expect((await sendAlarm(secret)).status).toBe(202);
    expect(alarms()).toHaveLength(1);
  });
});

describe('what is told of it', () => {
  const values: [string, unknown][] = [
    ['a picture', { event: 'motion', title: 'Gate', thumbnail: 'x'.repeat(500_000) }],
    ['a long list', { event: 'motion', title: 'Gate', rows: Array.from({ length: 5_000 }, (_, i) => ({ i })) }],
    [
      'many keys',
      {
        event: 'motion',
        title: 'Gate',
        ...Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key${i}`, '😀'])),
      },
    ],
    [
      'much that is escaped',
      { event: 'motion', title: '\u0001'.repeat(5_000), id: '\u0001'.repeat(5_000), text: '\u0001'.repeat(5_000) },
    ],
    ['a long text', '😀'.repeat(100_000)],
  ];
  test.each(values)('has 4 kB at most, with a mark: %s', async (_what, value) => {
    const { post, alarms } = await stage();
    expect((await post(JSON.stringify(value), 'application/json')).status).toBe(202);
    const [alarm] = alarms();
    expect(alarm).toMatchObject({ source: 'alarm_manager', cut: true });
    expect(sizeOf(alarm)).toBeLessThanOrEqual(4_096);
    expect(JSON.stringify(alarm)).toContain('…');
    expect(JSON.stringify(alarm)).not.toMatch(/\\ud83d/);
    if (typeof value === 'object') expect(alarm?.type).toBe('motion');
  });

  test('is no deeper than anybody looks, however deep it was', async () => {
    const { post, alarms } = await stage();
    const deep = `{"type":"deep","a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
    expect((await post(deep, 'application/json')).status).toBe(202);
    expect((await post(deep.replace('"a"', '"\\u0061"'), 'application/json')).status).toBe(202);
    expect(alarms()[0]).toMatchObject({ type: 'deep' });
    for (const alarm of alarms()) expect(sizeOf(alarm)).toBeLessThanOrEqual(4_096);
  });

  test('holds no secrets of the console', async () => {
    const { post, alarms } = await stage();
    await post('{"wlan":[{"name":"home","x_passphrase":"never told"}],"x_authkey":"never told"}');
    expect(alarms()[0]?.data).toEqual({ wlan: [{ name: 'home' }] });
  });

  test('takes odd ids as they are', async () => {
    const { tell, alarms } = await stage();
    const ids = [
      'ü'.repeat(60_000),
      `${'ü'.repeat(60_000)}!`,
      '😀',
      '__proto__',
      'constructor',
      ' ',
      '\u0000',
      0,
      -1.5,
      '0',
    ];
    const statuses = [];
    for (const id of ids) statuses.push((await tell({ event_type: 'a.b', event_id: id })).status);
    // The text of a number is that number.
    expect(statuses).toEqual([...Array(9).fill(202), 200]);
    expect(alarms().every(({ id = '' }) => id.length <= 200)).toBe(true);
  });
});

describe('more than a hundred in a minute', () => {
  test('wait, each as long as it is told to, and are taken then', async () => {
    const { tell, alarms, clock, console } = await stage();
    for (let i = 0; i < 100; i++) expect((await tell({ event_type: 'a.b', event_id: i })).status).toBe(202);
    const { status, retryAfter } = await tell({ event_type: 'a.b', event_id: 'one more' });
    // The clock runs while they come, so a few tokens may have come back.
    const refused = status === 429 ? { status, retryAfter } : await flood(tell);
    expect(refused).toMatchObject({ status: 429, retryAfter: 1 });
    const before = alarms().length;
    expect(await tell({ event_type: 'a.b', event_id: 5 })).toMatchObject({ status: 200 });
    await clock.jump(1_000);
    expect((await tell({ event_type: 'a.b', event_id: 'one more, later' })).status).toBe(202);
    expect(alarms()).toHaveLength(before + 1);
    expect(before).toBeLessThan(110);
    // A look now and then, and not one for each.
    expect(console.requests.length).toBeLessThan(60);
  });

  const flood = async (tell: (event: object) => ReturnType<typeof sendSigned>) => {
    for (let i = 0; ; i++) {
      const answer = await tell({ event_type: 'a.b', event_id: `flood ${i}` });
      if (answer.status !== 202) return answer;
    }
  };
});

describe('an alarm', () => {
  test('has the console looked at, and nothing that it claims is taken from it', async () => {
    const { console, tell, until, sink } = await stage();
    const phone = `unifi:client:${CLIENT.phone}`;
    const phone2 = `unifi:client:${CLIENT.phone2}`;
    console.trouble.silent = true;
    console.state.connect(CLIENT.phone2);
    sink.take();
    await tell({ event_type: 'client.disconnected', data: { mac: CLIENT.phone } });
    await until(`${phone2}/presence=present`);
    expect(sink.lines.filter(line => line.startsWith(`${phone}/`) && /presence|connectivity/.test(line))).toEqual([]);
  });

  test('of which many come has the console looked at no more often than it answers', async () => {
    const { console, tell, clock, pass } = await stage();
    const lists = () => console.requests.filter(line => line.endsWith('/stat/sta')).length;
    const before = lists();
    console.trouble.hangs = true;
    for (let i = 0; i < 8; i++) {
      expect((await tell({ event_type: 'a.b', event_id: i })).status).toBe(202);
      await clock.jump(2_100);
    }
    await eventually(() => lists() === before + 1, 'the first look');
    console.trouble.hangs = false;
    // What hangs is given up after twenty seconds.
    await clock.jump(4_000);
    await pass(3_000);
    // The first, which is asked again after its time is up, and one more for all the others.
    expect(lists()).toBe(before + 3);
  });

  test('has the answers asked for anew that were kept', async () => {
    const { backend, console, tell } = await stage();
    const { signal } = new AbortController();
    const ask = () => backend.answers.read('legacy', 'rest/networkconf', { seconds: 300, fresh: false, signal });
    const asked = () => console.requests.filter(line => line.endsWith('/rest/networkconf')).length;
    await ask();
    await ask();
    const before = asked();
    await tell({ event_type: 'config.changed' });
    await ask();
    expect(asked()).toBe(before + 1);
  });

  test('while the console is away is refused for now, and is no duplicate when it comes again', async () => {
    const { console, clock, sink, tell, secret, signed, alarms, consoleNow } = await stage();
    const event = { event_type: 'a.b', event_id: 'e', timestamp: consoleNow() };
    await console.down();
    await passing(clock, () => sink.lines.some(line => line.startsWith('offline: ')), 'offline');
    expect(await tell(event)).toMatchObject({
      status: 503,
      retryAfter: 30,
      json: { error: { code: 'BACKEND_OFFLINE' } },
    });
    expect(await sendAlarm(secret)).toMatchObject({ status: 503, retryAfter: 30 });
    // Who is not let in learns nothing of it.
    expect((await sendAlarm(signed, { body: OFFLINE })).status).toBe(401);
    sink.take();
    await console.up();
    await passing(clock, () => sink.lines.includes('ready'), 'ready');
    await eventually(() => console.sockets === 1, 'the socket');
    expect((await tell({ ...event, timestamp: consoleNow() })).status).toBe(202);
    expect((await tell({ ...event, timestamp: consoleNow() })).status).toBe(200);
    expect(alarms()).toHaveLength(1);
  });
});

describe('the configuration', () => {
  const problems = (webhook: unknown) => {
    const read = UnifiSchema.safeParse({ type: 'unifi', url: 'https://192.168.1.1', api_key: 'k', webhook });
    return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('/')}: ${message}`);
  };

  test('wants one of the two, and a path that nobody guesses', () => {
    expect(problems({ path: PATH })).toEqual([]);
    expect(problems({ secret: 's' })).toEqual([]);
    expect(problems({})).toEqual([expect.stringMatching(/^webhook: give path/)]);
    for (const path of ['short', 'signed', 'x'.repeat(129), 'with/a/slash/in/the/middle', 'with a blank in it'])
      expect(problems({ path })).toEqual([expect.stringMatching(/^webhook\/path: expected 16 to 128/)]);
    expect(problems({ path: 'short-and-secret' }).join().includes('short-and')).toBe(false);
  });

  test('shows neither of them', () => {
    const config = UnifiSchema.parse({
      type: 'unifi',
      url: 'https://192.168.1.1',
      api_key: 'k',
      webhook: { path: PATH, secret: SECRET },
    });
    expect(JSON.stringify(config.webhook)).toBe('{"secret":"***","path":"***"}');
  });
});
