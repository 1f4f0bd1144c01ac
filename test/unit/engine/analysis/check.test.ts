import { describe, expect, test } from 'vitest';
import { checkRule } from '../../../../src/engine/analysis/check.ts';
import { house, ruleOf, said } from './kit.ts';

const command = (device: unknown, name: string, more: object = {}) => ({
  type: 'command',
  device,
  command: name,
  ...more,
});

test('a rule that fits the house has nothing to be said of it', () => {
  const off = ruleOf({ id: 'off', actions: [command('desk', 'off')] });
  expect(said({ actions: [command('virtual:lamp', 'on')] }, house([off]))).toEqual([]);
});

describe('names', () => {
  test('of devices that are not there are warned of, with the nearest one: they may come', () => {
    const [finding] = checkRule(ruleOf({ actions: [command('virtual:lam', 'on')] }), house());
    expect(finding).toMatchObject({ code: 'unknown_device', severity: 'warning', path: 'actions/0/device' });
    expect(finding?.hint).toContain('virtual:lamp');
    expect(said({ actions: [command(['virtual:lamp', 'virtual:x'], 'off')] })).toEqual([
      'warning unknown_device actions/0/device/1',
    ]);
  });

  test('of commands that a device does not have are refused; behind a selector they are warned of', () => {
    expect(said({ actions: [command('virtual:plug', 'setLevel')] })).toContain(
      'error unknown_command actions/0/command',
    );
    expect(said({ actions: [command({ capability: 'switch' }, 'setLevel', { args: { level: 5 } })] })).toContain(
      'warning unknown_command actions/0/command',
    );
  });

  test('of modes are refused, those of variables warned of', () => {
    expect(said({ condition: { type: 'mode', is: 'nowhere' } })).toEqual(['error unknown_mode condition/is']);
    expect(said({ actions: [{ type: 'set_mode', mode: 'nowhere' }] })).toEqual(['error unknown_mode actions/0/mode']);
    expect(said({ actions: [{ type: 'set_variable', name: 'limits', value: 1 }] })).toEqual([
      'warning unknown_variable actions/0/name',
    ]);
    expect(said({ condition: { type: 'expression', expr: 'vars.limits > 1' } })).toEqual([
      'warning unknown_variable condition/expr',
    ]);
  });

  test('of attributes and periods that are not there mean that it never happens', () => {
    expect(said({ triggers: [{ type: 'state', device: 'virtual:motion', attribute: 'contact' }] })).toEqual([
      'warning never_fires triggers/0',
    ]);
    expect(said({ condition: { type: 'time', period: 'weekends' } })).toEqual(['warning never_fires condition/period']);
    expect(said({ condition: { type: 'time', period: 'holidays' } })).toEqual([]);
  });
});

describe('values', () => {
  test('that an attribute cannot have are refused, wherever they are compared', () => {
    const wrong = { type: 'state', device: 'virtual:motion', attribute: 'motion' };
    expect(said({ triggers: [{ ...wrong, to: 'on' }] })).toEqual(['error type_mismatch triggers/0/to']);
    expect(said({ triggers: [{ ...wrong, from: ['active', 'maybe'] }] })).toEqual([
      'error type_mismatch triggers/0/from/1',
    ]);
    const inside = { type: 'not', condition: { ...wrong, is: 5 } };
    expect(said({ condition: inside })).toEqual(['error type_mismatch condition/condition/is']);
  });

  test('of what is no number cannot be above anything', () => {
    expect(said({ triggers: [{ type: 'numeric', device: 'virtual:motion', attribute: 'motion', above: 1 }] })).toEqual([
      'error type_mismatch triggers/0/attribute',
    ]);
  });

  test('of arguments are checked as they will be sent', () => {
    expect(said({ actions: [command('desk', 'setLevel', { args: { level: 'much' } })] })).toEqual([
      'error type_mismatch actions/0/args/level',
    ]);
    expect(said({ actions: [command('desk', 'setLevel', { args: { level: { expr: 'vars.limit' } } })] })).toEqual([]);
  });

  test('of variables have their type', () => {
    expect(said({ actions: [{ type: 'set_variable', name: 'limit', value: 'much' }] })).toEqual([
      'error type_mismatch actions/0/value',
    ]);
  });

  test('that change with each try are not retried, and not done at the end', () => {
    expect(said({ actions: [command('desk', 'toggle', { retry: { times: 2, backoff: '1s' } })] })).toContain(
      'error type_mismatch actions/0/retry',
    );
    expect(said({ finally: [command('desk', 'toggle')] })).toContain('error type_mismatch finally/0/command');
  });
});

describe('expressions', () => {
  test('that do not compile or are of the wrong type are refused where they stand', () => {
    expect(said({ condition: { type: 'expression', expr: '1 +' } })).toEqual(['error type_mismatch condition/expr']);
    expect(said({ condition: { type: 'expression', expr: '1 + 1' } })).toEqual(['error type_mismatch condition/expr']);
    expect(said({ actions: [{ type: 'log', message: 'a {{ 1 + "b" }}' }] })).toEqual([
      'error type_mismatch actions/0/message',
    ]);
  });
});

describe('a rule by itself', () => {
  test('that waits without an end, or over midnight, or past the end of months, is told', () => {
    const until = { type: 'state', device: 'virtual:motion', attribute: 'motion', is: 'inactive' };
    expect(said({ actions: [{ type: 'wait_for', until }] })).toEqual(['warning no_timeout actions/0']);
    expect(said({ condition: { type: 'time', after: '22:00', before: '06:00' } })).toEqual([
      'info wraps_midnight condition',
    ]);
    expect(said({ triggers: [{ type: 'cron', cron: '0 8 31 * *' }] })).toEqual([
      'warning skips_months triggers/0/cron',
    ]);
    expect(said({ triggers: [{ type: 'cron', cron: '0 8 28 * *' }] })).toEqual([]);
  });

  test('of a retry on a step that only holds others is that it does nothing', () => {
    const retry = { times: 2, backoff: '5s' };
    const steps = [{ type: 'log', message: 'x' }];
    expect(said({ actions: [{ type: 'sequence', do: steps, retry }] })).toEqual([
      'warning never_fires actions/0/retry',
    ]);
    expect(said({ actions: [{ type: 'sequence', do: [{ ...steps[0], retry }] }] })).toEqual([]);
  });

  test('that can never fire, or always may, is told', () => {
    const motion = { type: 'state', device: 'virtual:motion', attribute: 'motion' };
    const both = {
      type: 'and',
      conditions: [
        { ...motion, is: 'active' },
        { ...motion, is: 'inactive' },
      ],
    };
    expect(said({ condition: both })).toEqual(['warning never_fires condition']);
    const covered = {
      type: 'or',
      conditions: [
        { ...motion, is: 'active' },
        { ...motion, is_not: 'active' },
      ],
    };
    expect(said({ condition: covered })).toEqual(['info always_true condition']);
    expect(said({ triggers: [{ ...motion, from: 'active', to: 'active' }] })).toEqual([
      'warning never_fires triggers/0/to',
    ]);
  });

  test('that needs the sun needs a place', () => {
    const sun = [{ type: 'sun', event: 'sunset' }];
    expect(said({ triggers: sun })).toEqual([]);
    expect(said({ triggers: sun }, house([], { place: undefined }))).toEqual(['error never_fires triggers/0']);
  });

  test('that leaves something on when it is ended in between is told', () => {
    const steps = [command('desk', 'on'), { type: 'delay', for: '5m' }, command('desk', 'off')];
    expect(said({ actions: steps })).toEqual(['info no_finally actions/0']);
    expect(said({ actions: steps, finally: [command('desk', 'off')] })).toEqual([]);
  });
});

describe('a rule among others', () => {
  const on = { actions: [command('virtual:lamp', 'on')] };

  test('that puts something to work that none ends is told, also where they name it by its alias', () => {
    expect(said(on)).toEqual(['info no_off actions/0']);
    expect(said(on, house([ruleOf({ id: 'other', actions: [command('desk', 'toggle')] })]))).toEqual([]);
  });

  test('that does the same or the opposite at the same moment is told', () => {
    expect(said({}, house([ruleOf({ id: 'twin' })]))).toEqual(['warning duplicate triggers']);
    const off = ruleOf({ id: 'off', actions: [command('virtual:lamp', 'off')] });
    expect(said(on, house([off]))).toEqual(['warning conflict actions']);
    const atNight = ruleOf({
      id: 'off',
      actions: [command('virtual:lamp', 'off')],
      condition: { type: 'mode', is: 'away' },
    });
    expect(said(on, house([atNight]))).toEqual([]);
  });

  test('is not compared with its own former revision', () => {
    expect(said({}, house([ruleOf({})]))).toEqual([]);
  });
});

test('the gravest finding comes first', () => {
  const findings = said({
    condition: { type: 'time', after: '22:00', before: '06:00' },
    actions: [command('virtual:x', 'on'), command('virtual:plug', 'setLevel')],
  });
  const severities = findings.map(finding => finding.split(' ')[0]);
  expect(severities).toEqual(['error', 'warning', 'info'].flatMap(s => severities.filter(one => one === s)));
  expect(severities[0]).toBe('error');
});
