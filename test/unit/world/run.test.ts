// Scenarios as a whole: what is said when they do not hold, what files are, and what the world promises.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readScenario, runScenario, simulateFiles } from '../../../src/world/run.ts';

const RULE = {
  id: 'lamp',
  name: 'Lamp',
  triggers: [{ type: 'state', device: 'virtual:door', attribute: 'contact', to: 'open' }],
  actions: [{ type: 'command', device: 'virtual:lamp', command: 'on' }],
};
const OPENED = {
  given: { 'virtual:door': { contact: 'closed' } },
  rules: [RULE],
  timeline: [{ at: '1m', set: { 'virtual:door': { contact: 'open' } } }],
};

const run = (scenario: object) => runScenario(readScenario({ expect: [], ...scenario }));
const failures = async (...expect: object[]) => (await run({ ...OPENED, expect })).failures;

describe('what does not hold is said with what was seen nearest to it', () => {
  test('another time', async () => {
    const [line] = await failures({ at: '2m', run: 'lamp' });
    expect(line).toContain('expect/0: at 2m (2026-01-05T00:02:00+01:00) expected run {rule: "lamp"}');
    expect(line).toContain('seen nearest: at 1m (2026-01-05T00:01:00+01:00)');
  });

  test('another command, another count, none at all', async () => {
    const [other] = await failures({ command: { device: 'virtual:lamp', command: 'off' } });
    expect(other).toContain('command: "on"');
    expect(await failures({ count: 2, run: 'lamp' })).toMatchObject([expect.stringContaining('saw 1')]);
    expect(await failures({ notify: {} })).toMatchObject([expect.stringContaining('there was no notify at all')]);
  });

  test('something where nothing was to be', async () => {
    const [line] = await failures({ within: ['0s', '2m'], no: { run: 'lamp' } });
    expect(line).toContain('expected no run {rule: "lamp"}, saw 1: at 1m');
  });

  test('another end', async () => {
    const [line] = await failures({ state: { 'virtual:lamp': { switch: 'off' } } });
    expect(line).toContain('at the end expected virtual:lamp switch "off", is "on"');
  });

  test('a rule that ran otherwise, or that there is not', async () => {
    const lines = await failures({ rule: 'lamp', runs: 3, refused: 1, status: 'suspended' }, { rule: 'lump', runs: 0 });
    expect(lines).toEqual([
      expect.stringContaining('expected runs 3, saw 1'),
      expect.stringContaining('expected refused 1, saw 0'),
      expect.stringContaining('expected status suspended, saw ok'),
      expect.stringContaining('there is no rule "lump"'),
    ]);
  });
});

describe('a scenario', () => {
  test('holds when all of it does', async () => {
    const { ok, failures } = await run({
      ...OPENED,
      expect: [
        { at: '1m', run: 'lamp' },
        { at: '1m', command: { device: 'virtual:lamp', command: 'on' } },
        { within: ['0s', '1m'], no: { run: 'lamp' } },
        { state: { 'virtual:lamp': { switch: 'on' } } },
      ],
    });
    expect(failures).toEqual([]);
    expect(ok).toBe(true);
  });

  test('fails by a rule that is none and by an entry that cannot be done', async () => {
    const wrong = { ...RULE, triggers: [{ type: 'state', device: 'virtual:door' }] };
    expect((await run({ rules: [wrong] })).failures[0]).toContain('rules/0/triggers/0/attribute');
    const { failures } = await run({ timeline: [{ at: '1m', enable: 'nobody' }] });
    expect(failures[0]).toContain('timeline/0');
  });

  test('is the same each time, to the letter', async () => {
    const busy = {
      rules: [RULE, { ...RULE, id: 'tick', triggers: [{ type: 'interval', every: '7s' }], mode: { type: 'parallel' } }],
      given: OPENED.given,
      timeline: [
        { at: '10s', every: '3s', times: 20, set: { 'virtual:door': { contact: 'open' } } },
        { at: '11s', every: '3s', times: 20, set: { 'virtual:door': { contact: 'closed' } } },
        { at: '30s', stop: 'power' },
        { at: '35s', start: true },
      ],
    };
    const told = async () => {
      const { world } = await run(busy);
      return JSON.stringify([world?.seen.runs, [...(world?.seen.traces.values() ?? [])]]);
    };
    const first = await told();
    expect(first.length).toBeGreaterThan(1_000);
    expect(await told()).toBe(first);
  });
});

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-world-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, content: unknown) => {
    const path = join(mkdtempSync(join(folder, 'file-')), name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  test('of scenarios are run by their names', async () => {
    const good = file('good.yaml', { ...OPENED, expect: [{ run: 'lamp' }] });
    const bad = file('bad.yaml', { ...OPENED, name: 'nothing happens', expect: [{ count: 0, run: 'lamp' }] });
    const { ok, scenarios } = await simulateFiles([good, bad]);
    expect(ok).toBe(false);
    expect(scenarios.map(({ name, ok }) => [name, ok])).toEqual([
      ['good.yaml', true],
      ['nothing happens', false],
    ]);
  });

  test('of rules that are none are failures, also without tests', async () => {
    const { ok, scenarios } = await simulateFiles([
      file('broken.yaml', { ...RULE, triggers: [{ type: 'stat' }] }),
      file('untested.yaml', RULE),
    ]);
    expect(ok).toBe(false);
    expect(scenarios).toHaveLength(1);
    expect(scenarios[0]?.failures.join()).toContain('triggers/0');
  });

  test('of rules have their tests run, on stand-ins of the devices that they name', async () => {
    const hub = JSON.parse(JSON.stringify(RULE).replaceAll('virtual:', 'hubitat:'));
    const tests = [
      { name: 'opens', given: { 'hubitat:door': { contact: 'closed' } } },
      { name: 'stays open', given: { 'hubitat:door': { contact: 'open' } } },
    ].map((test, n) => ({
      ...test,
      timeline: [{ at: '1m', set: { 'hubitat:door': { contact: 'open' } } }],
      expect: [{ rule: 'lamp', runs: n === 0 ? 1 : 0 }],
    }));
    const { scenarios } = await simulateFiles([file('lamp.yaml', { ...hub, tests })]);
    expect(scenarios.map(({ name, failures }) => [name, failures])).toEqual([
      ['opens', []],
      ['stays open', []],
    ]);
  });

  test('of rules see the aliases of the house', async () => {
    const byAlias = { ...RULE, actions: [{ type: 'command', device: 'desk', command: 'on' }] };
    const tests = [
      {
        given: OPENED.given,
        timeline: OPENED.timeline,
        expect: [{ command: { device: 'hubitat:7', command: 'on' } }],
      },
    ];
    const house = { aliases: { desk: 'hubitat:7' } };
    const { scenarios } = await simulateFiles([file('lamp.yaml', { ...byAlias, tests })], { house });
    expect(scenarios[0]?.failures).toEqual([]);
  });

  test('that are not there or cannot be read are failures like any other', async () => {
    const { ok, scenarios } = await simulateFiles([
      join(folder, 'nowhere.yaml'),
      file('broken.yaml', 'expect: [ {'),
      file('other.yaml', 'some: thing'),
    ]);
    expect(ok).toBe(false);
    expect(scenarios.map(({ failures }) => failures.length)).toEqual([1, 1, 1]);
    expect(scenarios[0]?.failures[0]).toContain('there is no file');
  });
});
