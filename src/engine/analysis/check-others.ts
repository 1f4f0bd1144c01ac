// A rule among the others: loops that it closes, rules that do the same or the opposite, things that nothing ends.
import { digest } from '../../lib/json.ts';
import { memoByObject } from '../../lib/memo.ts';
import type { Finding } from '../../model/finding.ts';
import type { Devices } from '../../state/devices.ts';
import type { StepConfig, TriggerConfig } from '../kind.ts';
import type { Rule } from '../rules/schema.ts';
import { bodyOf } from '../run/body.ts';
import type { Known } from './check.ts';
import { cycleThrough, type Edge, keysOf } from './graph.ts';
import { undoes } from './lint.ts';
import { RuleIndex } from './rule-index.ts';

/** Loop, duplicate, conflict, no_off. */
export function checkOthers(rule: Rule, { rules, devices }: Known): Finding[] {
  const index = indexOf(devices);
  index.follow(rules);
  return index.with(rule, () => [
    ...loops(rule, index, devices),
    ...twins(rule, index, devices),
    ...neverEnded(rule, index, devices),
  ]);
}

/** One index per registry: rules that did not change since the last check keep their place in it. */
const indexOf = memoByObject(
  (_devices: Devices) => new RuleIndex(rule => [...keysOf(rule), ...keysOfDoing(doingOf(rule))]),
);

function loops(rule: Rule, index: RuleIndex, devices: Devices): Finding[] {
  const cycle = cycleThrough(rule, index, devices);
  if (!cycle) return [];
  const [first] = cycle as [Edge];
  const isCertain = cycle.length === 1 && first.isCertain;
  const way = cycle.map(edge => `${edge.from} –(${edge.over})→`).join(' ');
  return [
    {
      code: 'loop',
      severity: isCertain ? 'error' : 'warning',
      path: first.path || 'actions',
      message: isCertain
        ? `the rule starts itself without an end, over ${first.over}`
        : `this can start the rule again: ${way} ${rule.id}`,
      hint: isCertain
        ? 'let it write elsewhere, or add a condition that is false once the work is done'
        : 'the guard stops it if it happens; from and to, a condition or by: not:rule rule it out',
    },
  ];
}

interface Doing {
  readonly when: string;
  readonly what: string;
  readonly commands: ReadonlySet<string>;
}

/** What a rule does and when, to be compared. */
const doingOf = memoByObject((rule: Rule): Doing => {
  const plain = rule.triggers.map(trigger => {
    const { id: _id, ...meaning } = trigger as TriggerConfig;
    return meaning;
  });
  const { triggers: _triggers, actions, condition } = rule;
  const commands = [...bodyOf(rule).values()].flatMap(steps =>
    steps.filter(step => step.type === 'command').flatMap(commandsOf),
  );
  return {
    when: digest({ plain, condition: condition ?? null, timezone: rule.timezone ?? null }),
    what: digest(actions),
    commands: new Set(commands),
  };
});

const targetsOf = (step: StepConfig): string[] => {
  const { device } = step as unknown as { device: unknown };
  return [device].flat().map(one => (typeof one === 'string' ? one : JSON.stringify(one)));
};
const commandsOf = (step: StepConfig): string[] =>
  targetsOf(step).map(target => `${target} ${(step as unknown as { command: string }).command}`);

const keysOfDoing = ({ when, commands }: Doing): string[] => [
  `when ${when}`,
  ...[...commands].map(command => `does ${command}`),
];

function twins(rule: Rule, index: RuleIndex, devices: Devices): Finding[] {
  const mine = doingOf(rule);
  return [...index.at(`when ${mine.when}`)].flatMap((other): Finding[] => {
    const its = doingOf(other);
    if (other.id === rule.id) return [];
    if (its.what === mine.what)
      return [
        {
          code: 'duplicate',
          severity: 'warning',
          path: 'triggers',
          message: `${other.id} does the same at the same moment`,
        },
      ];
    const clash = [...mine.commands].find(one => opposites(one, devices).some(opposite => its.commands.has(opposite)));
    if (clash === undefined) return [];
    const message = `${other.id} does the opposite of "${clash}" at the same moment`;
    return [{ code: 'conflict', severity: 'warning', path: 'actions', message, hint: 'give one of them a condition' }];
  });
}

function opposites(command: string, devices: Devices): string[] {
  const at = command.lastIndexOf(' ');
  const target = command.slice(0, at);
  const declared = devices.get(target)?.commands[command.slice(at + 1)];
  return declared?.opposes === undefined ? [] : [`${target} ${declared.opposes}`];
}

/** Something is put to work, and no rule at all ends it. */
function neverEnded(rule: Rule, all: RuleIndex, devices: Devices): Finding[] {
  for (const [index, step] of rule.actions.entries()) {
    if (step.type !== 'command') continue;
    const off = undoes((step as unknown as { command: string }).command);
    if (off === undefined) continue;
    for (const target of targetsOf(step)) {
      const names = namesOf(target, devices);
      const isEnded = names.some(name => [off, 'toggle'].some(one => all.at(`does ${name} ${one}`).size > 0));
      if (isEnded) continue;
      const message = `no rule ever tells ${target} to ${off}`;
      return [{ code: 'no_off', severity: 'info', path: `actions/${index}`, message }];
    }
  }
  return [];
}

const namesOf = (target: string, devices: Devices): string[] => {
  const id = devices.resolve(target);
  return [target, id, devices.aliasOf(id)].filter(name => name !== undefined);
};
