// What a rule says in words: what is wanted of whom, so that nobody has to read the rule itself.
import { expect, it } from 'vitest';
import { actions } from '../../../src/engine/actions/index.ts';
import { triggers } from '../../../src/engine/triggers/index.ts';

const step = (command: object) => {
  const kind = actions.get('command');
  return kind.describe(kind.schema.parse({ type: 'command', device: 'lamp', ...command }) as never);
};
const flow = (config: object) => {
  const kind = triggers.get('flow');
  return kind.describe(kind.schema.parse({ type: 'flow', ...config }) as never);
};

it.each([
  [{ command: 'on' }, 'tell lamp to on'],
  [{ command: 'setLevel', args: { level: 30, duration: 2 } }, 'tell lamp to setLevel (level 30, duration 2)'],
  [{ command: 'setLevel', args: [30, 2] }, 'tell lamp to setLevel (30 and 2)'],
  [{ command: 'setLevel', args: { level: { expr: 'vars.x' } } }, 'tell lamp to setLevel (level (vars.x))'],
])('a command is told with its arguments: %j', (command, words) => {
  expect(step(command)).toBe(words);
});

it.each([
  [{}, 'when there is a network conversation'],
  [
    { where: { action: 'blocked', risk: ['medium', 'high'] } },
    'when there is a network conversation (action blocked, risk medium or high)',
  ],
  [
    { where: { action: 'blocked' }, within: '5m', count: 20, distinct: 'destination.ip', per: 'source.mac' },
    'when network conversations (action blocked) within 5m reach 20 different destination.ip of one source.mac',
  ],
  [
    { within: '1h', sum: { field: 'bytes', above: 1000 } },
    'when network conversations within 1h reach a sum of bytes above 1000',
  ],
])('a flow says which conversations count: %j', (config, words) => {
  expect(flow(config)).toBe(words);
});
