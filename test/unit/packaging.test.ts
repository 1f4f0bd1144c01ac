import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { override } from '../../src/config/environment.ts';
import { configSchema } from '../../src/config/schema.ts';
import { parseYaml } from '../../src/lib/yaml.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const defaults = configSchema().parse(undefined);
const manifest = JSON.parse(read('package.json')) as {
  engines: { node: string };
  license: string;
  bin: Record<string, string>;
};

/** The instructions of a Dockerfile, continued lines joined, comments left out. */
function instructions(text: string): [string, string][] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ');
  return [...lines.matchAll(/^([A-Z]+)\s+(.*)$/gm)].map(([, name, rest]) => [name as string, (rest as string).trim()]);
}

const dockerfile = instructions(read('Dockerfile'));
const last = dockerfile.slice(dockerfile.findLastIndex(([name]) => name === 'FROM'));
const valuesOf = (name: string): string[] => last.filter(([found]) => found === name).map(([, rest]) => rest);
const imageEnvironment = Object.fromEntries(
  valuesOf('ENV').flatMap(rest => rest.split(/\s+/).map(pair => pair.split('=') as [string, string])),
);

describe('Dockerfile', () => {
  test('compiles in a stage of its own: the image that runs has no compiler', () => {
    expect(dockerfile.filter(([name]) => name === 'FROM')).toHaveLength(2);
    expect(dockerfile.some(([name, rest]) => name === 'RUN' && rest.includes('g++'))).toBe(true);
    expect(last.some(([name, rest]) => name === 'RUN' && /apt-get|npm/.test(rest))).toBe(false);
  });

  test('runs on the Node of package.json and .nvmrc', () => {
    const images = dockerfile.flatMap(([name, rest]) => (name === 'FROM' ? [/^node:(\d+)-/.exec(rest)?.[1]] : []));
    expect(images).toEqual([read('.nvmrc').trim(), read('.nvmrc').trim()]);
    expect(manifest.engines.node).toMatch(new RegExp(`^>=${read('.nvmrc').trim()}\\.`));
  });

  test('runs as nobody in particular, and no instruction after that is root’s', () => {
    expect(valuesOf('USER')).toEqual(['node']);
    const afterUser = last.slice(last.findIndex(([name]) => name === 'USER')).map(([name]) => name);
    expect(afterUser).not.toContain('RUN');
    expect(afterUser).not.toContain('COPY');
  });

  test('asks /healthz on the default port', () => {
    const [check] = valuesOf('HEALTHCHECK');
    expect(check).toContain('/healthz');
    expect(check).toContain(String(defaults.http.port));
    const command = JSON.parse(check?.slice(check.indexOf('[')) ?? '') as string[];
    expect(() => new Function(command[2] as string)).not.toThrow();
  });

  test('exposes the default ports', () => {
    expect(valuesOf('EXPOSE')[0]?.split(' ').map(Number).sort()).toEqual(
      [defaults.mqtt.port, defaults.http.port].sort(),
    );
  });

  test('keeps data and configuration in volumes that the user of the image owns', () => {
    const volumes = JSON.parse(valuesOf('VOLUME')[0] ?? '') as string[];
    expect(volumes).toContain(imageEnvironment.CAUSEWAY_DATA__DIR);
    expect(volumes).toContain(imageEnvironment.CAUSEWAY_HOME);
    for (const volume of volumes)
      expect(valuesOf('RUN').join()).toMatch(new RegExp(`chown [^&]*node:node[^&]*${volume}`));
  });

  test('sets only variables that the configuration knows, and no secret', () => {
    const known = override({}, configSchema(), imageEnvironment);
    expect(known.problems).toEqual([]);
    expect(configSchema().parse(known.value).http.host).toBe('0.0.0.0');
    expect(Object.keys(imageEnvironment).filter(name => /TOKEN|PASSWORD|SECRET|KEY/.test(name))).toEqual([]);
    expect(dockerfile.some(([name]) => name === 'ARG' || name === 'ADD')).toBe(false);
  });

  test('starts node itself, as process 1 that gets the signals', () => {
    expect(JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '')).toEqual(['node', '--enable-source-maps', 'dist/src/main.js']);
  });

  test('copies only what .dockerignore lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter(line => line.startsWith('!'))
      .map(line => line.slice(1));
    expect(read('.dockerignore')).toMatch(/^\*$/m);
    const copied = dockerfile
      .filter(([name, rest]) => name === 'COPY' && !rest.startsWith('--from'))
      .flatMap(([, rest]) => rest.split(' ').slice(0, -1));
    expect(new Set(copied)).toEqual(new Set(allowed));
  });
});

describe('docker-compose.yml', () => {
  interface Service {
    environment?: Record<string, string>;
    volumes: string[];
    ports: string[];
    profiles?: string[];
    read_only?: boolean;
    cap_drop?: string[];
  }
  const compose = parseYaml(read('docker-compose.yml'), { file: 'docker-compose.yml' }).value as {
    services: { causeway: Service; mosquitto: Service };
    volumes: Record<string, null>;
  };
  const { causeway, mosquitto } = compose.services;

  test('publishes to this machine alone, on the default ports', () => {
    const ports = [...causeway.ports, ...mosquitto.ports];
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(causeway.ports).toContain(`127.0.0.1:${defaults.http.port}:${defaults.http.port}`);
    expect(causeway.ports).toContain(`127.0.0.1:${defaults.mqtt.port}:${defaults.mqtt.port}`);
    expect(new Set(ports.map(port => port.split(':')[1])).size).toBe(ports.length);
  });

  test('keeps every volume of the image, and declares those that it names', () => {
    const mounted = causeway.volumes.map(volume => volume.split(':') as [string, string]);
    const volumes = JSON.parse(valuesOf('VOLUME')[0] ?? '') as string[];
    expect(mounted.map(([, path]) => path).sort()).toEqual(volumes.sort());
    for (const [name] of mounted) expect(Object.keys(compose.volumes)).toContain(name);
  });

  test('sets only variables that the configuration knows, and none to a secret', () => {
    const environment = Object.fromEntries(
      Object.entries(causeway.environment ?? {}).map(([name, text]) => [name, text.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
    );
    const known = override({}, configSchema(), environment);
    expect(known.problems).toEqual([]);
    expect(configSchema().parse(known.value)).toEqual(defaults);
    expect(Object.keys(environment).filter(name => /TOKEN|PASSWORD|SECRET/.test(name))).toEqual([]);
  });

  test('has Mosquitto in a profile, with our configuration', () => {
    expect(mosquitto.profiles).toEqual(['mosquitto']);
    expect(mosquitto.volumes).toContain('./broker/mosquitto.conf:/mosquitto/config/mosquitto.conf:ro');
    expect(causeway.profiles).toBeUndefined();
  });

  test('gives the gateway no rights that it does not need', () => {
    expect(causeway).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });
});

describe('causeway.service', () => {
  const unit = read('packaging/causeway.service');

  test('runs the built program as a user of its own, and hardly anything is writable for it', () => {
    expect(unit).toMatch(/^User=causeway$/m);
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/node --enable-source-maps dist\/src\/main\.js serve$/m);
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit).toMatch(/^NoNewPrivileges=yes$/m);
  });

  test('sets only variables that the configuration knows, to folders that systemd makes', () => {
    const environment = Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    const known = override({}, configSchema(), environment);
    expect(known.problems).toEqual([]);
    const { data, rules } = configSchema().parse(known.value);
    const made = (/^StateDirectory=(.*)$/m.exec(unit)?.[1] ?? '').split(' ').map(name => `/var/lib/${name}`);
    expect(made).toEqual(expect.arrayContaining([data.dir, rules.dir]));
  });
});

describe('the top level', () => {
  test('has a licence, which package.json names', () => {
    expect(manifest.license).toBe('MIT');
    expect(read('LICENSE')).toMatch(/^MIT License\n\nCopyright \(c\) \d{4} The Causeway authors\n/);
  });

  test('has the command that package.json names, and a client may run it', () => {
    for (const file of Object.values(manifest.bin)) {
      expect(existsSync(join(root, file))).toBe(true);
      expect(read(file).startsWith('#!/usr/bin/env node\n')).toBe(true);
      expect(statSync(join(root, file)).mode & 0o111).not.toBe(0);
    }
  });
});
