import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { demoHouse } from '../../src/backends/virtual/demo/index.ts';
import { referencesOf } from '../../src/engine/analysis/references.ts';
import { parseRule, type Rule } from '../../src/engine/rules/schema.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { deviceOf } from '../../src/model/device.ts';
import { Devices } from '../../src/state/devices.ts';

const DIR = join(import.meta.dirname, '../../rules/examples');
const files = readdirSync(DIR).filter(name => name.endsWith('.yaml'));
const demo = demoHouse({ seed: 1, place: { latitude: 52.52, longitude: 13.4 }, zone: 'Europe/Berlin' });

const textOf = (file: string) => readFileSync(join(DIR, file), 'utf8');

function ruleIn(file: string): Rule {
  const parsed = parseRule(parseYaml(textOf(file), { file }).value);
  if ('issues' in parsed) throw new Error(JSON.stringify(parsed.issues, null, 2));
  return parsed.rule;
}

/** The demo house as rules see it. */
function demoDevices(): Devices {
  const devices = new Devices();
  devices.setNames({ aliases: demo.house.aliases, rooms: demo.house.rooms });
  for (const { id, name, room, capabilities = [] } of demo.devices)
    devices.put(deviceOf({ id, name, room, capabilities }));
  for (const name of [...Object.keys(demo.house.people), 'anyone', 'everyone']) {
    devices.put(deviceOf({ id: `house:${name}`, name, capabilities: ['presence'] }));
  }
  for (const [name, { attribute }] of Object.entries(demo.house.groups)) {
    devices.put(
      deviceOf({ id: `house:${name}`, name, capabilities: [] }, { attributes: { [attribute]: { type: 'json' } } }),
    );
  }
  return devices;
}

describe('the example rules', () => {
  test('are ten or so', () => {
    expect(files.length).toBeGreaterThanOrEqual(8);
  });

  test.each(files)('%s is a rule, has its id, and says what it shows', file => {
    const rule = ruleIn(file);
    expect(rule.id).toBe(basename(file, '.yaml'));
    expect(textOf(file)).toMatch(/^# [^\n]+\n/);
  });

  test.each(files)('%s names devices, attributes, commands, variables and modes of the demo house', file => {
    const devices = demoDevices();
    const rule = ruleIn(file);
    const refs = referencesOf(rule);
    for (const { target, attribute, path } of refs.attributes) {
      for (const id of devices.members(target))
        expect(devices.get(id)?.attributes, `${path}: ${id}`).toHaveProperty(attribute);
    }
    for (const { target, command, path } of refs.commands) {
      for (const id of devices.members(target))
        expect(devices.get(id)?.commands, `${path}: ${id}`).toHaveProperty(command);
    }
    const variables = { ...demo.house.variables, ...rule.variables };
    for (const { name } of refs.variables) expect(variables).toHaveProperty(name);
    for (const { name } of refs.modes) expect(demo.house.modes?.names).toContain(name);
  });

  test('are of the kinds that the demo shows: a shadow rule, two that loop, one with tests', () => {
    expect(ruleIn('shadow-welcome.yaml').enabled).toBe('shadow');
    expect(files).toEqual(expect.arrayContaining(['demo-loop-a.yaml', 'demo-loop-b.yaml']));
    expect(ruleIn('attic-fan.yaml').tests?.length).toBeGreaterThan(0);
  });
});
