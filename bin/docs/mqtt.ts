// The tables of docs/mqtt.md: the topic tree as `topicsOf` builds it, and what a role may do on it.
import { topicsOf } from '../../src/bus/topics.ts';
import { mqttAcl, ROLES, scopesOf } from '../../src/policy/roles.ts';
import { code, table } from './markdown.ts';
import type { Tables } from './template.ts';

const ROOT = 'causeway';
const topics = topicsOf(ROOT);
// Stands for any device: its parts become <backend> and <device> in the page.
const DEVICE = 'BACKEND:DEVICE';
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/\bBACKEND\b/g, '<backend>'],
  [/\bDEVICE\b/g, '<device>'],
  [/\bATTRIBUTE\b/g, '<attribute>'],
  [/\bCOMMAND\b/g, '<command>'],
  [/\bSITE\b/g, '<site>'],
  [/\bID\b/g, '<id>'],
  [/\bNAME\b/g, '<name>'],
  [/\bOP\b/g, '<op>'],
];
const named = (topic: string): string => NAMES.reduce((text, [word, name]) => text.replace(word, name), topic);

interface Output {
  readonly topic: string;
  readonly retained: boolean;
  readonly qos: 0 | 1;
  readonly payload: string;
}

const retained = (topic: string, payload: string, qos: 0 | 1 = 0): Output => ({ topic, retained: true, qos, payload });
const passing = (topic: string, payload: string, qos: 0 | 1 = 0): Output => ({ topic, retained: false, qos, payload });

const OUTPUTS: readonly Output[] = [
  retained(topics.bridgeState(), '`{"state":"online","boot":"…"}`; `offline` at a stop', 1),
  retained(topics.bridgeInfo(), 'version, backends, counts'),
  retained(topics.backendState('BACKEND'), '`state` online · degraded · offline, `since`, `reason`'),
  retained(topics.device(DEVICE, 'meta'), 'id, name, alias, room, capabilities, attributes, commands'),
  retained(
    topics.device(DEVICE, 'state'),
    'all values, flat: `{"switch":"on","level":70,"_":{"id":…,"ts":…,"seq":…}}`; at most once a turn',
  ),
  retained(topics.device(DEVICE, 'availability'), '`{"state":"online"}`, offline, unknown'),
  passing(topics.event(DEVICE, 'ATTRIBUTE'), 'the envelope of each change and each report'),
  passing(topics.flow('BACKEND', 'SITE'), 'one network conversation'),
  passing(topics.command(DEVICE), 'a copy of each command that left the gate, with its cause'),
  passing(topics.result(DEVICE), '`id` of the command, `outcome`, `error`, `ms`', 1),
  retained(topics.rule('ID', 'state'), 'enabled, status and its reason, counts, last run, revision'),
  passing(
    topics.rule('ID', 'event'),
    '`event`: created · updated · deleted · triggered · started · refused · finished · failed · suspended · resumed · throttled · enabled · disabled',
  ),
  passing(topics.guard('event'), 'what the guard stopped: rule, reason, the way round, what would mend it', 1),
  retained(topics.guard('state'), '`{"suspended":["…"]}`'),
  retained(topics.modeState(), '`{"value":"home","ts":"…"}`'),
  retained(topics.variableState('NAME'), '`{"value":18,"ts":"…"}`'),
  passing(topics.response('OP'), 'the answer to a request, with its `transaction`', 1),
];

const INPUTS: readonly (readonly [topic: string, payload: string])[] = [
  [`${ROOT}/device/BACKEND/DEVICE/set`, 'values by attribute: `{"switch":"on","level":30}`; or a bare `ON` or `OFF`'],
  [`${ROOT}/device/BACKEND/DEVICE/set/ATTRIBUTE`, 'one value, JSON or bare: `on`, `22.5`'],
  [`${ROOT}/device/BACKEND/DEVICE/command/COMMAND`, 'arguments by name, a list of them, one bare value, or nothing'],
  [`${ROOT}/rule/ID/set`, '`ON` or `OFF`: lets it run or not, for the time being; the file stays'],
  [`${ROOT}/rule/ID/run`, 'starts a run; a JSON object becomes `args`'],
  [`${ROOT}/mode/set`, 'a mode: `away`'],
  [`${ROOT}/variable/NAME/set`, 'a value'],
  [`${ROOT}/bridge/request/OP`, 'calls any operation: its arguments, and a `transaction` that the answer repeats'],
];

/** Fills docs/mqtt.md. */
export function mqttTables(): Tables {
  const unknown = INPUTS.filter(([topic]) => topics.parseInput(topic) === undefined);
  if (unknown.length > 0) throw new Error(`no inputs: ${unknown.map(([topic]) => topic).join(', ')}`);
  return {
    outputs: table(
      ['topic', 'retained', 'QoS', 'payload'],
      OUTPUTS.map(({ topic, retained: isRetained, qos, payload }) => [
        code(named(topic)),
        isRetained ? 'yes' : '',
        String(qos),
        payload,
      ]),
    ),
    inputs: table(
      ['topic', 'payload'],
      INPUTS.map(([topic, payload]) => [code(named(topic)), payload]),
    ),
    roles: table(
      ['role', 'may subscribe to', 'may publish to'],
      ROLES.map(role => {
        const { subscribe, publish } = mqttAcl({ scopes: scopesOf(role) }, ROOT);
        const list = (filters: readonly string[]) => filters.map(code).join(' ') || 'nothing';
        return [role, list(subscribe), list(publish)];
      }),
    ),
  };
}
