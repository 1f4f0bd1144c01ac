import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { configDir, loadConfig, loadFile } from '../../../src/config/load.ts';
import { Secret } from '../../../src/config/secret.ts';
import { CausewayError } from '../../../src/lib/errors.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'causeway-config-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const write = (name: string, text: string): string => {
  const file = join(dir, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
};

/** A type of backend that takes any further keys. */
const Open = z.looseObject({ type: z.literal('hubitat') });

function load(text?: string, environment: Record<string, string> = {}, backends: z.ZodObject[] = [Open]) {
  if (text !== undefined) write('config.yaml', text);
  return loadConfig({ dir, environment, backends });
}

function refusal(
  text?: string,
  environment: Record<string, string> = {},
  backends: z.ZodObject[] = [Open],
): CausewayError {
  try {
    load(text, environment, backends);
  } catch (error) {
    if (error instanceof CausewayError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('what config.yaml may leave out', () => {
  test('everything: without a file all is default', () => {
    const { config, file, warnings } = load();
    expect(file).toBeUndefined();
    expect(warnings).toEqual([]);
    expect(config.http).toMatchObject({ host: '127.0.0.1', port: 8480, allowed_hosts: [] });
    expect(config.mqtt).toMatchObject({ mode: 'embedded', host: '127.0.0.1', port: 1883, root: 'causeway' });
    expect(config.guard).toEqual({ runs: 30, per: '1m', device_commands: 60, depth: 16, descendants: 200 });
    expect(config.rules.authority).toBe('operator');
  });

  test('an empty file, and a section with all its keys commented out', () => {
    expect(load('').config).toEqual(load('http:\n  # port: 1\nlog:\n').config);
  });

  test('a named file must be there', () => {
    expect(() => loadConfig({ file: 'other.yaml', dir, environment: {} })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: `there is no ${join(dir, 'other.yaml')}` }),
    );
  });

  test('files that a backend names, too', () => {
    const Backend = z.strictObject({
      type: z.literal('demo'),
      token: z.string().transform(text => new Secret(text)),
      tls: z.strictObject({ ca_file: z.string(), names: z.array(z.string()) }),
    });
    const text = 'backends: { a: { type: demo, token: t, tls: { ca_file: tls/a.pem, names: [b] } } }';
    const [backend] = Object.values(load(text, {}, [Backend]).config.backends);
    expect(backend).toMatchObject({ tls: { ca_file: join(dir, 'tls/a.pem'), names: ['b'] } });
    expect(backend?.token).toBeInstanceOf(Secret);
  });

  test('folders are meant from the folder of the file', () => {
    const { config } = load('data: { dir: store }\nhttp: { tls: { cert_file: a.pem, key_file: /etc/b.pem } }');
    expect(config.data.dir).toBe(join(dir, 'store'));
    expect(config.rules.dir).toBe(join(dir, 'rules'));
    expect(config.http.tls).toEqual({ cert_file: join(dir, 'a.pem'), key_file: '/etc/b.pem' });
  });

  test('CAUSEWAY_HOME names the folder', () => {
    expect(configDir({ CAUSEWAY_HOME: '/etc/causeway' }, '/work')).toBe('/etc/causeway');
    expect(configDir({ CAUSEWAY_HOME: 'here' }, '/srv')).toBe('/srv/here');
    expect(configDir({ CAUSEWAY_HOME: '' }, '/work')).toBe('/work');
  });
});

describe('what is wrong is told with its place', () => {
  test('a wrong key, with the nearest right one', () => {
    const error = refusal('http:\n  prt: 8080\n');
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toBe('config.yaml:2:3 http/prt: unknown key "prt"; did you mean "port"?');
    expect(error.path).toBe('http/prt');
    expect(error.details).toEqual({
      problems: [
        {
          source: 'config.yaml',
          line: 2,
          column: 3,
          path: 'http/prt',
          message: 'unknown key "prt"',
          hint: 'did you mean "port"?',
        },
      ],
    });
  });

  test('a wrong section', () => {
    expect(refusal('mqt: {}').message).toBe('config.yaml:1:1 mqt: unknown key "mqt"; did you mean "mqtt"?');
  });

  test('a value of the wrong type', () => {
    expect(refusal('http: { port: eighty }').message).toBe(
      'config.yaml:1:15 http/port: expected a number, got "eighty"',
    );
    expect(refusal('http: { port: 1.5 }').message).toBe('config.yaml:1:15 http/port: expected a whole number, got 1.5');
    expect(refusal('mcp: { enabled: "on" }').message).toBe(
      'config.yaml:1:17 mcp/enabled: expected true or false, got "on"',
    );
    expect(refusal('http: 8480').message).toBe('config.yaml:1:7 http: expected a map of keys and values, got 8480');
    expect(refusal('- http').message).toBe('config.yaml:1:1 expected a map of keys and values, got a list');
  });

  test('a value out of its range', () => {
    expect(refusal('guard: { runs: 3 }').message).toBe('config.yaml:1:16 guard/runs: expected at least 5, got 3');
    expect(refusal('http: { port: 70000 }').message).toContain('expected at most 65535, got 70000');
    expect(refusal('guard: { per: 1h }').message).toBe(
      'config.yaml:1:15 guard/per: expected a duration from 10s to 5m',
    );
    expect(refusal('guard: { per: soon }').message).toMatch(
      /^config.yaml:1:15 guard\/per: "soon" is no duration; write [^\n]*$/,
    );
  });

  test('a word that is none of the known ones', () => {
    expect(refusal('log: { level: inf }').message).toBe(
      'config.yaml:1:15 log/level: expected one of debug, info, warn, error, silent, got "inf"; did you mean "info"?',
    );
  });

  test('a time zone that there is not', () => {
    expect(refusal('location: { timezone: Europe/Berlim }').message).toContain(
      'expected a time zone of the IANA database',
    );
  });

  test('half a place, and an outside broker without its url', () => {
    expect(refusal('location: { latitude: 52 }').message).toBe(
      'config.yaml:1:11 location: latitude and longitude are given together, or neither',
    );
    expect(refusal('mqtt:\n  mode: external\n').message).toContain(
      'mqtt/url: mode external needs the url of the broker',
    );
  });

  test('two faults at once, in the order of the file', () => {
    const error = refusal('mqtt:\n  port: no\nhttp:\n  hst: x\n');
    expect(error.message).toBe(
      '2 problems:\n' +
        '  config.yaml:2:9 mqtt/port: expected a number, got "no"\n' +
        '  config.yaml:4:3 http/hst: unknown key "hst"; did you mean "host"?',
    );
    expect(error.details).toMatchObject({ problems: [{ line: 2 }, { line: 4 }] });
  });

  test('a syntax error and a key that stands there twice', () => {
    expect(refusal('http: [').code).toBe('CONFIG_INVALID');
    expect(refusal('http: {}\nhttp: {}').message).toBe('config.yaml:2:1 this key stands here twice');
  });
});

describe('!secret and !env', () => {
  test('a secret comes from secrets.yaml and is shown nowhere', () => {
    write('secrets.yaml', 'broker: "12345"\n');
    const { config, secrets } = load('mqtt: { password: !secret broker }');
    const { password } = config.mqtt;
    expect(password).toBeInstanceOf(Secret);
    expect(password?.reveal()).toBe('12345');
    expect(secrets.get('broker')?.reveal()).toBe('12345');
    for (const shown of [JSON.stringify(config), inspect(config, { depth: 9 }), `${password}`])
      expect(shown).not.toContain('12345');
  });

  test('a password that is written out is a secret too', () => {
    expect(JSON.stringify(load('mqtt: { password: hush }').config)).not.toContain('hush');
  });

  test('a secret that is missing, with the nearest name', () => {
    write('secrets.yaml', 'hub_token: x\n');
    expect(refusal('mqtt:\n  password: !secret hub_tokn\n').message).toBe(
      'config.yaml:2:21 mqtt/password: secrets.yaml has no "hub_tokn"; did you mean "hub_token"?',
    );
  });

  test('a secret where there is no secrets.yaml', () => {
    expect(refusal('mqtt: { password: !secret x }').message).toContain('secrets.yaml has no "x"');
  });

  test('the texts of secrets.yaml are not told when it is wrong', () => {
    write('secrets.yaml', 'a: hush\nb: [hush]\n');
    const { message } = refusal('');
    expect(message).toBe('secrets.yaml:2:4 b: expected a name and its text');
  });

  test('a secrets.yaml that others can read is warned about', () => {
    chmodSync(write('secrets.yaml', 'a: b\n'), 0o644);
    expect(load('').warnings).toEqual([expect.stringContaining('chmod 600')]);
  });

  test('a secret stays one where the schema says nothing about its place', () => {
    write('secrets.yaml', 'hub_token: hush\n');
    const { config } = load('backends: { hub: { type: hubitat, token: !secret hub_token } }');
    expect(config.backends.hub?.token).toBeInstanceOf(Secret);
  });

  test('an environment value is read as its place expects it', () => {
    const { config } = load('http: { port: !env PORT, host: !env HOST }\nmcp: { enabled: !env MCP }', {
      PORT: '9000',
      HOST: '0.0.0.0',
      MCP: 'false',
    });
    expect(config.http).toMatchObject({ port: 9000, host: '0.0.0.0' });
    expect(config.mcp.enabled).toBe(false);
  });

  test('a variable that is missing, told once', () => {
    expect(refusal('http: { port: !env PORT }').message).toBe(
      'config.yaml:1:20 http/port: the environment has no PORT; set it, or write the value here',
    );
  });

  test('another tag is refused', () => {
    expect(refusal('http: { port: !include x }').message).toBe('config.yaml:1:15 unknown tag !include');
  });
});

describe('the environment overrides', () => {
  test('numbers, booleans, words and durations', () => {
    const { config } = load('http: { port: 1 }', {
      CAUSEWAY_HTTP__PORT: '9000',
      CAUSEWAY_MCP__ENABLED: 'false',
      CAUSEWAY_MQTT__MODE: 'external',
      CAUSEWAY_MQTT__URL: 'mqtt://broker',
      CAUSEWAY_GUARD__PER: '90s',
      CAUSEWAY_LOCATION__LATITUDE: '-33.9',
      CAUSEWAY_LOCATION__LONGITUDE: '151',
    });
    expect(config).toMatchObject({
      http: { port: 9000 },
      mcp: { enabled: false },
      mqtt: { mode: 'external', url: 'mqtt://broker' },
      guard: { per: '1m30s' },
      location: { latitude: -33.9, longitude: 151 },
    });
  });

  test('lists, with commas or as YAML', () => {
    expect(load('', { CAUSEWAY_HTTP__ALLOWED_HOSTS: 'a.lan, b.lan' }).config.http.allowed_hosts).toEqual([
      'a.lan',
      'b.lan',
    ]);
    expect(load('', { CAUSEWAY_HTTP__ALLOWED_HOSTS: '["a.lan"]' }).config.http.allowed_hosts).toEqual(['a.lan']);
    expect(load('', { CAUSEWAY_HTTP__ALLOWED_HOSTS: 'a.lan' }).config.http.allowed_hosts).toEqual(['a.lan']);
  });

  test('deeper keys and names of yours', () => {
    const { config } = load('log: { areas: { mqtt-bus: warn } }', {
      CAUSEWAY_MQTT__LIMITS__CLIENTS: '7',
      CAUSEWAY_SECURITY__EGRESS__ALLOW: 'hooks.lan:8080',
      CAUSEWAY_LOG__AREAS__ENGINE: 'debug',
      CAUSEWAY_LOG__AREAS__MQTT_BUS: 'error',
      CAUSEWAY_BACKENDS__HUB_2__TYPE: 'hubitat',
    });
    expect(config.mqtt.limits.clients).toBe(7);
    expect(config.security.egress.allow).toEqual(['hooks.lan:8080']);
    expect(config.log.areas).toEqual({ engine: 'debug', 'mqtt-bus': 'error' });
    expect(config.backends).toEqual({ hub_2: { type: 'hubitat' } });
  });

  test('text stays text, also where it looks like a number', () => {
    expect(load('', { CAUSEWAY_MQTT__PASSWORD: '0123' }).config.mqtt.password?.reveal()).toBe('0123');
    expect(load('', { CAUSEWAY_MQTT__USERNAME: 'true' }).config.mqtt.username).toBe('true');
  });

  test('_FILE is the content of a file', () => {
    const file = write('password', 'hush\n');
    expect(load('', { CAUSEWAY_MQTT__PASSWORD_FILE: file }).config.mqtt.password?.reveal()).toBe('hush');
    expect(load('', { CAUSEWAY_HTTP__PORT_FILE: write('port', '8081') }).config.http.port).toBe(8081);
  });

  test('a key that ends in _file is itself', () => {
    const { config } = load('', { CAUSEWAY_HTTP__TLS__CERT_FILE: '/c.pem', CAUSEWAY_HTTP__TLS__KEY_FILE: '/k.pem' });
    expect(config.http.tls).toEqual({ cert_file: '/c.pem', key_file: '/k.pem' });
  });

  test('_FILE in an open backend is the content of a file too', () => {
    const { config } = load('', {
      CAUSEWAY_BACKENDS__HUB__TYPE: 'hubitat',
      CAUSEWAY_BACKENDS__HUB__TOKEN_FILE: write('token', 'hush'),
    });
    expect(config.backends.hub).toEqual({ type: 'hubitat', token: 'hush' });
  });

  test('a file that cannot be read, and the same key twice', () => {
    expect(refusal('', { CAUSEWAY_MQTT__PASSWORD_FILE: '/nowhere' }).message).toBe(
      'CAUSEWAY_MQTT__PASSWORD_FILE /nowhere cannot be read (ENOENT)',
    );
    expect(
      refusal('', { CAUSEWAY_MQTT__PASSWORD: 'a', CAUSEWAY_MQTT__PASSWORD_FILE: write('p', 'b') }).message,
    ).toContain('sets the same key; keep one of them');
  });

  test('a wrong name is refused with the nearest right one', () => {
    expect(refusal('', { CAUSEWAY_HTTP__PRT: '1' }).message).toBe(
      'CAUSEWAY_HTTP__PRT there is no key "prt" in http; did you mean "CAUSEWAY_HTTP__PORT"?',
    );
    expect(refusal('', { CAUSEWAY_HTPT__PORT: '1' }).message).toContain('there is no key "htpt"');
    expect(refusal('', { CAUSEWAY_HTTP__PORT__X: '1' }).message).toContain('there is no key "x" in http/port');
  });

  test('a wrong value names the variable', () => {
    expect(refusal('http: { port: 1 }', { CAUSEWAY_HTTP__PORT: 'eighty' }).message).toBe(
      'CAUSEWAY_HTTP__PORT http/port: expected a number, got "eighty"',
    );
  });

  test('an empty variable, and those without __, are not ours', () => {
    const { config } = load('', {
      CAUSEWAY_HTTP__PORT: '',
      CAUSEWAY_PORT: 'tcp://10.0.0.1:1883',
      CAUSEWAY_SERVICE_HOST: '10.0.0.1',
      CAUSEWAY_TOKEN: 'x',
    });
    expect(config.http.port).toBe(8480);
  });
});

describe('backends', () => {
  const Built = z.strictObject({ type: z.literal('hubitat'), url: z.url(), poll: z.int().default(60) });

  test('a built type is checked by its own schema', () => {
    const { config, warnings } = load('backends: { hub: { type: hubitat, url: "http://hub" } }', {}, [Built]);
    expect(config.backends.hub).toEqual({ type: 'hubitat', url: 'http://hub', poll: 60 });
    expect(warnings).toEqual([]);
    expect(refusal('backends:\n  hub: { type: hubitat, ur: x }', {}, [Built]).message).toBe(
      '2 problems:\n' +
        '  config.yaml:2:8 backends/hub/url: expected text, got nothing\n' +
        '  config.yaml:2:25 backends/hub/ur: unknown key "ur"; did you mean "url"?',
    );
    expect(
      load(
        '',
        {
          CAUSEWAY_BACKENDS__HUB__TYPE: 'hubitat',
          CAUSEWAY_BACKENDS__HUB__URL: 'http://h',
          CAUSEWAY_BACKENDS__HUB__POLL: '5',
        },
        [Built],
      ).config.backends.hub,
    ).toMatchObject({ poll: 5 });
  });

  test('an unknown type is refused with the nearest one', () => {
    expect(refusal('backends: { hub: { type: hubitt } }').message).toBe(
      'config.yaml:1:26 backends/hub/type: unknown type "hubitt"; did you mean "hubitat"?',
    );
  });

  test('ids that would not do in a device id are refused', () => {
    expect(refusal('backends: { "my hub": { type: hubitat } }').message).toContain('an id has lower-case letters');
    expect(refusal('backends: { house: { type: hubitat } }').message).toContain('are taken by what is built in');
  });
});

describe('files beside it', () => {
  const Notes = z
    .strictObject({ notes: z.record(z.string(), z.looseObject({ type: z.string() })).default({}) })
    .prefault({});

  test('one that is missing or empty is what the schema makes of nothing', () => {
    const texts = { environment: {}, secrets: new Map() };
    expect(loadFile(join(dir, 'house.yaml'), Notes, texts)).toEqual({ notes: {} });
    expect(loadFile(write('house.yaml', '# nothing\n'), Notes, texts)).toEqual({ notes: {} });
  });

  test('!secret works there, overrides do not', () => {
    const texts = { environment: { CAUSEWAY_NOTES__A__TYPE: 'y' }, secrets: new Map([['t', new Secret('hush')]]) };
    const { notes } = loadFile(write('house.yaml', 'notes: { a: { type: x, token: !secret t } }'), Notes, texts);
    expect(notes.a?.type).toBe('x');
    expect(notes.a?.token).toBeInstanceOf(Secret);
  });
});
