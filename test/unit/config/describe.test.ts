import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { backendSchemas } from '../../../src/backends/index.ts';
import { describeConfig, exampleConfig, exampleHouse } from '../../../src/config/describe.ts';
import { houseSchema } from '../../../src/config/house.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { TAGS } from '../../../src/config/tags.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { Target } from '../../../src/model/target.ts';

/** The example with all that is commented out; a tag becomes a text. */
const uncommented = (text: string): unknown => {
  const lines = text.replace(/^(\s*)#(?! \S)/gm, '$1').replace(/!(secret|env) /g, '');
  return parseYaml(lines, { file: 'example', tags: TAGS }).value;
};

describe('describeConfig', () => {
  const keys = describeConfig();
  const key = (path: string) => keys.find(row => row.path === path);

  test('has type, default and variable of every key', () => {
    expect(key('http/port')).toEqual({
      path: 'http/port',
      type: 'number, 0–65535',
      default: '8480',
      description: 'Port of MCP, REST, webhooks and the page; 0 takes a free one',
      env: 'CAUSEWAY_HTTP__PORT',
    });
    expect(key('mqtt/password')).toMatchObject({ type: 'text (secret)', default: undefined });
    expect(key('guard/per')).toMatchObject({ type: 'duration, 10s–5m', default: '1m' });
    expect(key('http/public_url')?.type).toBe('URL');
    expect(key('mqtt/mode')?.type).toBe('embedded · external');
    expect(key('log/areas/<name>')?.env).toBe('CAUSEWAY_LOG__AREAS__<NAME>');
  });

  test('names every key once, and none without a description but the type of a backend', () => {
    expect(new Set(keys.map(row => row.path)).size).toBe(keys.length);
    expect(keys.filter(row => row.description === '').map(row => row.path)).toEqual([]);
  });

  test('has the keys of the built backends', () => {
    const Built = z.strictObject({ type: z.literal('hubitat'), url: z.url().meta({ description: 'The hub' }) });
    expect(
      describeConfig([Built])
        .filter(row => row.path.startsWith('backends/'))
        .map(row => [row.path, row.type]),
    ).toEqual([
      ['backends/<name>/type', 'hubitat'],
      ['backends/<name>/url', 'URL'],
    ]);
  });
});

describe('exampleConfig', () => {
  test('loads, and says the same as no file', () => {
    const value = parseYaml(exampleConfig(), { file: 'config.example.yaml', tags: TAGS }).value;
    const plain = Object.fromEntries(Object.entries(value as object).filter(([, section]) => section !== null));
    expect(configSchema().parse(plain)).toEqual(configSchema().parse(undefined));
  });

  test('loads with all that is commented out, too', () => {
    const config = configSchema(backendSchemas).parse(uncommented(exampleConfig()));
    expect(config.location).toMatchObject({ latitude: 52.52, timezone: 'Europe/Berlin' });
    expect(config.backends.hubitat).toMatchObject({ type: 'hubitat' });
    expect(config.http.tls).toBeDefined();
  });

  test('names every key', () => {
    const text = exampleConfig();
    for (const { path } of describeConfig()) {
      const leaf = path
        .split('/')
        .filter(part => !part.startsWith('<'))
        .at(-1);
      expect(text).toMatch(new RegExp(`^\\s*#?\\s*${leaf}:`, 'm'));
    }
  });
});

describe('exampleHouse', () => {
  test('is empty as it stands', () => {
    expect(parseYaml(exampleHouse(), { file: 'house.example.yaml' }).value).toBeNull();
  });

  test('loads with all that is commented out, and has every key', () => {
    const House = houseSchema(Target);
    const value = uncommented(exampleHouse()) as object;
    const house = House.parse(value);
    expect(house.people.anna?.trackers).toHaveLength(2);
    expect(Object.keys(value).sort()).toEqual(Object.keys(House.unwrap().shape).sort());
  });
});
