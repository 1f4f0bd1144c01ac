// Tables of docs/scenarios.md. The schema of scenarios knows what is allowed; what it means stands here.
import { ENTRY_KINDS, type EntryKind, Scenario } from '../../src/world/scenario.ts';
import { SEEN, type SeenKind } from '../../src/world/scenario-expect.ts';
import { code, table } from './markdown.ts';
import type { Tables } from './template.ts';

/** Keys of a scenario. */
export const KEYS: Readonly<Record<string, string>> = {
  name: 'what the report calls it',
  description: 'for people',
  location: '`latitude`, `longitude`, `timezone`; 52.52, 13.4, Europe/Berlin without it, in `tests:` that of the house',
  start: 'the local time at which it begins, or with `Z` an instant; 2026-01-05T00:00:00 without it',
  house: 'as house.yaml: aliases, people, groups, periods, scenes …',
  devices:
    'what the devices are, where their names do not tell: `capabilities`, `attributes`, `commands`, `label`, `room`, `echo`',
  given: 'values known and good before the engine starts, by device; besides `mode`, `variables`, `retained`',
  rules: 'rules, written out',
  files: 'rule files, from the folder of the scenario; for `causeway simulate` alone',
  timeline: 'what happens, each entry with `at` and one of the keys below; with `every` and `times` again and again',
  until: 'when it ends; a minute after the last time that is named, without it',
  expect: 'what must have come of it',
};

/** What an entry of the timeline does. */
const ENTRIES: Readonly<Record<EntryKind, readonly [example: string, meaning: string]>> = {
  set: ['{ "virtual:a": { switch: "on" } }', 'devices report values, changed or not'],
  event: [
    '{ device: "virtual:remote", name: pushed, value: 1 }',
    'a momentary event; the same `id` twice is a duplicate',
  ],
  report: [
    '{ device: "virtual:a", attribute: switch, value: "off", sourceTime: … }',
    'a raw report: late, twice, of the wrong type',
  ],
  unavailable: ['["virtual:boiler"]', 'devices cannot be reached'],
  available: ['["virtual:boiler"]', 'they can again, and report what they are set to'],
  mqtt: ['{ topic: home/x, payload: { value: 3 }, retain: false }', 'a message of an outside client'],
  mode: ['away', 'the mode of the house becomes this'],
  variable: ['{ name: setpoint, value: 22 }', 'a variable of the house becomes this'],
  webhook: ['{ id: doorbell, body: {} }', 'a request at `/hooks/<id>`'],
  flow: ['{ action: blocked, source: { mac: "…" } }', 'a network conversation'],
  command: ['{ device: "virtual:a", command: "on", by: user }', 'somebody commands a device'],
  stop: ['true', 'the gateway is killed, with what it has stored; `power`: the last unsynced writes are lost too'],
  start: ['true', 'it starts again; `{ ready: 5s }`: the backends are ready that much later'],
  save: ['{ id: …, … }', 'a rule is created or replaced'],
  patch: ['{ id: lock-again, name: … }', 'a JSON merge patch to a rule'],
  enable: ['lock-again', 'a rule is enabled'],
  disable: ['lock-again', 'a rule is disabled'],
  resume: ['lock-again', 'a suspended rule is resumed'],
  delete: ['lock-again', 'a rule is deleted'],
  run: ['lock-again', 'a rule is run; `{ rule, args }` with arguments'],
  panic: ['true', 'panic begins, or ends'],
  rename: ['{ id: "virtual:a", label: Desk }', 'a device is given another label'],
  remove: ['["virtual:a"]', 'devices go'],
  replace: ['{ old: "virtual:a", new: "virtual:b" }', 'aliases of one device go over to another'],
  clock: ['-1h', 'the wall clock is stepped; offsets are elapsed time and do not move'],
  timezone: ['America/New_York', 'the house moves to another zone'],
  fail: [
    '{ device: "virtual:b", error: BACKEND_TIMEOUT, until: 20m }',
    'its commands fail; or `hang: true`, `answerAfter: 40s`',
  ],
  answer: ['{ tag: door, value: "yes" }', 'a person answers a notification'],
  http: ['{ url: "https://…", status: 500 }', 'what `http` steps get from then on; 200 and nothing without it'],
};

/** What can be looked for. */
const SIGHTS: Readonly<Record<SeenKind, string>> = {
  run: 'a run started: id of the rule, or `{ rule, trigger, by }`',
  command: 'a command left the gate, whoever made it (`by`), failed attempts too (`outcome`)',
  notify: 'a rule notified: `rule`, `message`, `title`, `to`, `priority`, `tag`, `ask`',
  publish: 'a rule published: `rule`, `topic`, `payload`, `retain`, `qos`',
  http: 'a rule sent a request: `rule`, `url`, `method`, `headers`, `body`',
  log: 'a rule logged: `rule`, `run`, `level`, `message`',
  guard: 'the guard stepped in: `rule`, `reason` loop · storm · budget',
  finding: 'a save had a finding: `rule`, `code`, `path`, `severity`',
  trace: 'a trace, of a run, of a refusal, or of a trigger that let go; any of its fields, with `path` those of a step',
  save: '`accepted` or `rejected`, with `path`, `code`, `id`, and `finding` beside it',
};

/** Fills docs/scenarios.md. */
export const scenarioTables = (): Tables => ({
  keys: table(
    ['key', 'what it is'],
    Object.keys(Scenario.shape).map(key => [code(key), KEYS[key] ?? '']),
  ),
  entries: table(
    ['entry', 'for example', 'what happens'],
    ENTRY_KINDS.map(kind => [code(kind), code(ENTRIES[kind][0]), ENTRIES[kind][1]]),
  ),
  seen: table(
    ['look for', 'what it is'],
    SEEN.map(kind => [code(kind), SIGHTS[kind]]),
  ),
});
