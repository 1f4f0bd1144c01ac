import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { judgePublish, judgeSubscribe, mayRead } from '../../../broker/acl.ts';

const limits = { levels: 16 };
const rules = { root: 'causeway', isInput: (topic: string) => topic.endsWith('/set'), levels: 16 };
const principal = {
  name: 'p',
  publish: ['causeway/#', 'zigbee/+/set', '$odd/#'],
  subscribe: ['causeway/+/state', 'zigbee/#', '$SYS/#'],
};

describe('a publish', () => {
  it.each([
    ['causeway/device/set', 'input'],
    ['causeway/device/state', 'not an input'],
    ['causeway', 'not an input'],
    ['causewayx/set', 'not permitted'],
    ['zigbee/lamp/set', 'allowed'],
    ['zigbee/lamp/get', 'not permitted'],
    ['$odd/x', 'not permitted'],
    ['', 'malformed'],
    ['a/+', 'malformed'],
    ['causeway/'.repeat(17), 'too long'],
    [`causeway/${'x'.repeat(1_100)}`, 'too long'],
  ])('to %s is %s', (topic, verdict) => {
    expect(judgePublish(principal, topic, rules)).toBe(verdict);
  });
});

describe('a subscription', () => {
  it.each([
    ['causeway/+/state', undefined],
    ['causeway/a/state', undefined],
    ['zigbee/#', undefined],
    ['zigbee', undefined],
    ['causeway/#', 'not permitted'],
    ['#', 'not permitted'],
    ['$SYS/#', 'reserved'],
    ['$share/group/zigbee/#', 'reserved'],
    ['zigbee/#/x', 'malformed'],
    ['zigbee/'.repeat(17), 'too long'],
  ])('to %s is refused as %s', (filter, why) => {
    expect(judgeSubscribe(principal, filter, limits)).toBe(why);
  });

  it('is nothing to one without rights', () => {
    const nobody = { name: 'n', publish: [], subscribe: [] };
    expect(judgeSubscribe(nobody, 'a', limits)).toBe('not permitted');
    expect([mayRead(nobody, 'a'), mayRead(principal, 'zigbee/x'), mayRead(principal, 'other')]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe('the examples', () => {
  const read = (name: string) => readFileSync(new URL(`../../../broker/${name}`, import.meta.url), 'utf8');
  const presets = parse(read('acl.example.yaml')) as Record<string, { subscribe: string[]; publish: string[] }>;

  it('say the same for both brokers', () => {
    const lines = Object.entries(presets).flatMap(([user, { subscribe, publish }]) => [
      `user ${user}`,
      ...subscribe.map(filter => `topic read ${filter}`),
      ...publish.map(filter => `topic write ${filter}`),
    ]);
    const inFile = read('acl.example')
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'));
    expect(inFile).toEqual(lines);
  });

  it('take # for the topics of others: under the root only a filter that names it counts', () => {
    const request = 'causeway/bridge/request/get_system';
    const asked = (publish: string[]) =>
      judgePublish({ name: 'x', subscribe: [], publish }, request, { ...rules, isInput: () => true });
    expect([asked(['#']), asked(['+/#']), asked(['#', 'causeway/device/#'])]).toEqual([
      'not permitted',
      'not permitted',
      'not permitted',
    ]);
    expect(asked(['#', 'causeway/bridge/request/#'])).toBe('input');
  });

  it('let nobody but Causeway publish its states, events and results', () => {
    const outputs = [
      'bridge/state',
      'device/h/1/state',
      'event/h/1/on',
      'result/h/1',
      'rule/r/state',
      'guard/event',
      'mode/state',
    ];
    for (const [name, { subscribe, publish }] of Object.entries(presets)) {
      if (name === 'causeway') continue;
      const verdicts = outputs.map(topic =>
        judgePublish({ name, subscribe, publish }, `causeway/${topic}`, { ...rules, isInput: () => true }),
      );
      expect(new Set(verdicts)).toEqual(new Set(['not permitted']));
    }
  });
});
