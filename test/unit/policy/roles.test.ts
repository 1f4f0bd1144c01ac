import { describe, expect, test } from 'vitest';
import { topicMatches } from '../../../src/lib/topic.ts';
import { mqttAcl, ROLES, type Role, SCOPES, scopesOf } from '../../../src/policy/roles.ts';

describe('roles', () => {
  test('each may all that the one below it may', () => {
    for (const [index, role] of ROLES.entries()) {
      const below = ROLES[index - 1];
      if (below) expect([...scopesOf(role)]).toEqual(expect.arrayContaining([...scopesOf(below)]));
    }
    expect([...scopesOf('admin')]).toEqual([...SCOPES]);
  });

  test('a list of scopes narrows a role and never widens it', () => {
    expect([...scopesOf('operator', ['read', 'admin'])]).toEqual(['read']);
    expect([...scopesOf('viewer', [])]).toEqual([]);
  });
});

describe('MQTT', () => {
  const ROOT = 'home/causeway';
  const acl = (role: Role) => mqttAcl({ scopes: scopesOf(role) }, ROOT);

  // As the broker reads the filters: under the root only those that name it count.
  const mayPublish = (role: Role, topic: string): boolean =>
    acl(role).publish.some(
      filter => topicMatches(filter, topic) && (!topic.startsWith(ROOT) || filter.startsWith(ROOT)),
    );

  test.each([
    ['device/hubitat/hubitat:42/set', 'operator'],
    ['device/hubitat/hubitat:42/set/level', 'operator'],
    ['device/hubitat/hubitat:42/command/on', 'operator'],
    ['rule/attic-fan/set', 'operator'],
    ['rule/attic-fan/run', 'operator'],
    ['mode/set', 'operator'],
    ['variable/setpoint/set', 'operator'],
    ['bridge/request/list_rules', 'admin'],
    ['device/hubitat/hubitat:42/state', 'nobody'],
    ['event/hubitat/hubitat:42/switch', 'nobody'],
    ['rule/attic-fan/state', 'nobody'],
    ['bridge/state', 'nobody'],
    ['mode/state', 'nobody'],
  ])('%s may be published to by %s and those above', (topic, least) => {
    const allowed = ROLES.filter(role => mayPublish(role, `${ROOT}/${topic}`));
    expect(allowed).toEqual(least === 'nobody' ? [] : ROLES.slice(ROLES.indexOf(least as Role)));
  });

  test('outside the root operators and admins may publish, viewers not', () => {
    expect(ROLES.filter(role => mayPublish(role, 'zigbee2mqtt/lamp/set'))).toEqual(['operator', 'admin']);
  });

  test('everybody may subscribe to everything', () => {
    for (const role of ROLES) {
      for (const topic of [`${ROOT}/device/a/b/state`, 'zigbee2mqtt/lamp']) {
        expect(acl(role).subscribe.some(filter => topicMatches(filter, topic))).toBe(true);
      }
    }
  });

  test('a principal without any scope may nothing', () => {
    expect(mqttAcl({ scopes: new Set() }, ROOT)).toEqual({ publish: [], subscribe: [] });
  });
});
