import { describe, expect, test } from 'vitest';
import { checkRule } from '../../../../src/engine/analysis/check.ts';
import type { Rule } from '../../../../src/engine/rules/schema.ts';
import { house, ruleOf } from './kit.ts';

const on = (device: string, name = 'on') => ({ type: 'command', device, command: name });
const whenSwitched = (device: string) => ({ type: 'state', device, attribute: 'switch' });
const whenOn = (device: string) => ({ ...whenSwitched(device), to: 'on' });
const publish = (topic: string, payload: unknown = 1) => ({ type: 'publish', topic, payload });

/** The loop that a rule closes among others, as `severity` and message. */
function loop(parts: object, others: readonly Rule[] = []): { severity: string; message: string } | undefined {
  return checkRule(ruleOf(parts), house(others)).find(({ code }) => code === 'loop');
}

describe('a rule that starts itself', () => {
  test('is certain where it does something else each time: a toggle, an addition, its own topic', () => {
    expect(loop({ triggers: [whenSwitched('virtual:lamp')], actions: [on('desk', 'toggle')] })?.severity).toBe('error');
    const counting = { type: 'set_variable', name: 'limit', add: 1 };
    expect(loop({ triggers: [{ type: 'variable', name: 'limit' }], actions: [counting] })?.severity).toBe('error');
    expect(loop({ triggers: [{ type: 'mqtt', topic: 'a/#' }], actions: [publish('a/b')] })?.severity).toBe('error');
    expect(loop({ triggers: [{ type: 'startup' }], actions: [{ type: 'call_rule', rule: 'r' }] })?.severity).toBe(
      'error',
    );
  });

  test('is certain over a variable of its own that is kept, and over no other of that name', () => {
    const parts = {
      triggers: [{ type: 'variable', name: 'n' }],
      actions: [{ type: 'set_variable', name: 'n', add: 1 }],
    };
    const kept = { n: { type: 'number', initial: 0, persist: true } };
    expect(loop({ ...parts, variables: kept })?.severity).toBe('error');
    const writer = ruleOf({ id: 'writer', variables: kept, triggers: [{ type: 'startup' }], actions: parts.actions });
    expect(loop({ ...parts, actions: [{ type: 'call_rule', rule: 'writer' }] }, [writer])).toBeUndefined();
  });

  test('is only possible where a condition, a branch, a wait or a comparison stands between', () => {
    const own = { triggers: [{ type: 'mqtt', topic: 'a/#' }], actions: [publish('a/b')] };
    const condition = { type: 'mode', is: 'home' };
    expect(loop({ ...own, condition })?.severity).toBe('warning');
    expect(loop({ ...own, actions: [{ type: 'if', condition, then: own.actions }] })?.severity).toBe('warning');
    expect(loop({ ...own, triggers: [{ type: 'mqtt', topic: 'a/#', debounce: '1s' }] })?.severity).toBe('warning');
    expect(loop({ triggers: [whenOn('desk')], actions: [on('desk', 'toggle')] })?.severity).toBe('warning');
    expect(loop({ triggers: [whenOn('desk')], actions: [on('desk')] })?.severity).toBe('warning');
  });

  test('is none where what it writes is not what it waits for', () => {
    expect(loop({ triggers: [whenOn('virtual:lamp')], actions: [on('virtual:lamp', 'off')] })).toBeUndefined();
    expect(loop({ triggers: [whenOn('virtual:lamp')], actions: [on('virtual:plug')] })).toBeUndefined();
    expect(loop({ triggers: [{ type: 'mqtt', topic: 'a/+' }], actions: [publish('a/b/c')] })).toBeUndefined();
    expect(loop({ triggers: [{ type: 'mqtt', topic: 'a', is: 2 }], actions: [publish('a', 1)] })).toBeUndefined();
  });

  test('is none where the trigger looks away from what rules do', () => {
    const trigger = { ...whenSwitched('virtual:lamp'), by: 'not:rule' };
    expect(loop({ triggers: [trigger], actions: [on('desk', 'toggle')] })).toBeUndefined();
    expect(loop({ triggers: [{ ...trigger, by: 'device' }], actions: [on('desk', 'toggle')] })).toBeUndefined();
  });
});

describe('rules that start each other', () => {
  const back = ruleOf({ id: 'back', triggers: [whenOn('virtual:plug')], actions: [on('virtual:lamp', 'toggle')] });

  test('are warned of, with the way round', () => {
    const found = loop({ triggers: [whenOn('virtual:lamp')], actions: [on('virtual:plug')] }, [back]);
    expect(found?.severity).toBe('warning');
    expect(found?.message).toContain('r –(virtual:plug/switch)→ back –(virtual:lamp/switch)→ r');
  });

  test('are found over any number of rules, and over modes, variables, topics, calls and ends of runs', () => {
    const chain = [
      ruleOf({
        id: 'a',
        triggers: [{ type: 'mode', to: 'away' }],
        actions: [{ type: 'set_variable', name: 'limit', value: 5 }],
      }),
      ruleOf({ id: 'b', triggers: [{ type: 'variable', name: 'limit', above: 3 }], actions: [publish('x/y')] }),
      ruleOf({ id: 'c', triggers: [{ type: 'mqtt', topic: 'x/#' }], actions: [{ type: 'call_rule', rule: 'd' }] }),
      ruleOf({ id: 'd', triggers: [{ type: 'startup' }] }),
    ];
    const mine = { triggers: [{ type: 'rule', rule: 'd' }], actions: [{ type: 'set_mode', mode: 'away' }] };
    const found = loop(mine, chain);
    for (const id of ['a', 'b', 'c', 'd']) expect(found?.message).toContain(` ${id} `);
    expect(loop(mine, chain.slice(1))).toBeUndefined();
    expect(loop({ ...mine, actions: [{ type: 'set_mode', mode: 'home' }] }, chain)).toBeUndefined();
  });

  test('are found behind selectors', () => {
    const all = { type: 'state', device: { capability: 'dimmer' }, attribute: 'switch', to: 'on' };
    expect(loop({ triggers: [all], actions: [on('virtual:lamp', 'on')] })?.severity).toBe('warning');
    expect(loop({ triggers: [all], actions: [on('virtual:plug', 'on')] })).toBeUndefined();
  });
});
