// Operations on rules.
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import { mergePatch } from '../lib/json.ts';
import { RuleId } from '../model/rule.ts';
import type { Refusal } from '../model/run.ts';
import type { Json } from '../model/value.ts';
import type { SimulationOutcome } from '../world/simulate-worker.ts';
import { causeOf } from './causes.ts';
import { authorOf, type Gateway } from './gateway.ts';
import { defineOp } from './op.ts';
import { kindList, kindSchema } from './schemas.ts';
import { RuleSummary, RuleView, ruleState, ruleWords, showRule } from './show.ts';

const id = RuleId.meta({ description: 'Id of the rule' });
const body = z.record(z.string(), z.json()).meta({
  description: 'The rule as JSON: id, name, triggers, condition, actions … (get_rule_schema has every field)',
});
const Result = z.looseObject({ id: z.string() });

const listRules = defineOp({
  name: 'list_rules',
  title: 'List rules',
  description: 'All rules with status, counts and when they last ran. A suspended or broken rule says why.',
  input: z.strictObject({
    status: z
      .enum(['ok', 'dormant', 'degraded', 'throttled', 'suspended', 'unavailable'])
      .optional()
      .meta({ description: 'Only this status' }),
    tag: z.string().optional(),
  }),
  output: z.object({ rules: z.array(RuleSummary) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/rules'],
  listed: true,
  async run(gateway: Gateway, { status, tag }) {
    const rules = gateway.rulebook
      .list()
      .filter(entry => tag === undefined || entry.rule?.tags?.includes(tag))
      .map(entry => ruleState(gateway, entry))
      .filter(rule => status === undefined || rule.status === status);
    return { rules };
  },
});

const getRule = defineOp({
  name: 'get_rule',
  title: 'Get a rule',
  description:
    'One rule: as written, in words, its next occurrences, findings, and why it is suspended or unavailable.',
  input: z.strictObject({ id }),
  output: RuleView,
  effect: 'read',
  scope: 'read',
  route: ['GET', '/rules/:id'],
  listed: true,
  async run(gateway: Gateway, input) {
    return showRule(gateway, gateway.rulebook.require(input.id));
  },
});

const getSchema = defineOp({
  name: 'get_rule_schema',
  title: 'Schema of rules',
  description:
    'The JSON Schema of a rule, or of one kind of trigger, condition or action with its examples (`kind: "trigger state"`).',
  input: z.strictObject({
    kind: z.string().optional().meta({
      description: 'e.g. "trigger numeric", "condition time", "action wait_for"; without it a list of all kinds',
    }),
  }),
  output: z.looseObject({}),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/schema/rule'],
  listed: true,
  async run(_gateway: Gateway, { kind }) {
    if (kind === undefined) return kindList();
    return kindSchema(kind);
  },
});

const checkRule = defineOp({
  name: 'check_rule',
  title: 'Check a rule',
  description:
    'What would come of saving a rule: whether it is valid, what is wrong and where, which loops it could close. Saves nothing.',
  input: z.strictObject({ rule: body }),
  output: z.looseObject({ valid: z.boolean() }),
  effect: 'read',
  scope: 'read',
  route: ['POST', '/rules/check'],
  listed: true,
  async run(gateway: Gateway, { rule }) {
    try {
      const checked = gateway.rulebook.check(rule as Json);
      const entry = {
        id: checked.rule.id,
        file: '',
        body: rule as Json,
        rule: checked.rule,
        revision: 0,
        faults: [],
        findings: checked.findings,
      };
      return { valid: true, words: ruleWords(entry), findings: checked.findings };
    } catch (error) {
      if (!(error instanceof CausewayError) || error.code !== 'RULE_INVALID') throw error;
      return { valid: false, error: error.toJSON() };
    }
  },
});

const createRule = defineOp({
  name: 'create_rule',
  title: 'Create a rule',
  description:
    'Saves a new rule, which runs at once unless enabled is false or "shadow". Check it first with check_rule.',
  input: z.strictObject({ rule: body }),
  output: RuleView,
  effect: 'write',
  scope: 'rules:write',
  route: ['POST', '/rules'],
  listed: true,
  async run(gateway: Gateway, { rule }, { caller, dryRun }) {
    if (dryRun) {
      const checked = gateway.rulebook.check(rule as Json);
      if (gateway.rulebook.get(checked.rule.id))
        throw new CausewayError('RULE_EXISTS', `there is a rule "${checked.rule.id}" already`);
      return { id: checked.rule.id, revision: 1, rule, findings: checked.findings as unknown as Json, dry_run: true };
    }
    return showRule(gateway, await gateway.rulebook.create(rule as Json, authorOf(caller)));
  },
});

const updateRule = defineOp({
  name: 'update_rule',
  title: 'Update a rule',
  description:
    'Replaces a rule (`rule`), or changes a part of it (`patch`, a JSON merge patch: null removes a field, lists are replaced whole). With `revision` only if nobody changed it since you read it. Timers of triggers whose meaning stays go on.',
  input: z.strictObject({
    id,
    rule: body.optional(),
    patch: z.record(z.string(), z.json()).optional(),
    revision: z.int().min(0).optional().meta({ description: 'The revision that you have read' }),
  }),
  output: RuleView,
  effect: 'write',
  scope: 'rules:write',
  route: ['PATCH', '/rules/:id'],
  listed: true,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    if ((input.rule === undefined) === (input.patch === undefined)) {
      throw new CausewayError('INPUT_INVALID', 'give rule or patch', {
        path: 'rule',
        hint: 'rule is the whole rule, patch only what changes',
      });
    }
    const change = input.rule === undefined ? { patch: input.patch as Json } : { body: input.rule as Json };
    if (dryRun) {
      const entry = gateway.rulebook.require(input.id);
      const next = 'body' in change ? change.body : mergePatch(entry.body, change.patch ?? null);
      return {
        id: input.id,
        revision: entry.revision + 1,
        rule: next ?? null,
        findings: gateway.rulebook.check(next ?? null).findings as unknown as Json,
        dry_run: true,
      };
    }
    return showRule(gateway, await gateway.rulebook.update(input.id, change, input.revision, authorOf(caller)));
  },
});

const deleteRule = defineOp({
  name: 'delete_rule',
  title: 'Delete a rule',
  description: 'Deletes a rule and its file; its runs are cancelled, its revisions stay.',
  input: z.strictObject({ id, revision: z.int().min(0).optional(), confirm: z.boolean().optional() }),
  output: Result,
  effect: 'destructive',
  scope: 'rules:write',
  route: ['DELETE', '/rules/:id'],
  listed: true,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    const entry = gateway.rulebook.require(input.id);
    if (!dryRun) await gateway.rulebook.delete(input.id, input.revision, authorOf(caller));
    return { id: input.id, deleted: !dryRun, revision: entry.revision };
  },
});

const control = (
  name: string,
  title: string,
  description: string,
  listed: boolean,
  act: (gateway: Gateway, id: string) => void,
) =>
  defineOp({
    name,
    title,
    description,
    input: z.strictObject({ id }),
    output: RuleSummary,
    effect: 'write',
    scope: 'rules:write',
    idempotent: true,
    route: ['POST', `/rules/:id/${name.split('_')[0]}`],
    listed,
    async run(gateway: Gateway, input, { dryRun }) {
      const entry = gateway.rulebook.require(input.id);
      if (!dryRun) await gateway.engine.do(() => act(gateway, input.id));
      const state = ruleState(gateway, entry);
      const stays = name === 'enable_rule' && state.status === 'suspended';
      return { ...state, ...(stays && { hint: hintFor('suspended', entry.id) }) };
    },
  });

const enableRule = control(
  'enable_rule',
  'Enable a rule',
  'Lets a rule run, for the time being: its file stays as it is. To change it for good, update enabled.',
  true,
  (gateway, rule) => gateway.engine.rules.override(rule, true),
);
const disableRule = control(
  'disable_rule',
  'Disable a rule',
  'Stops a rule for the time being: holds are dropped, runs cancelled (on_disable: finish lets them end). Its file stays as it is.',
  true,
  (gateway, rule) => gateway.engine.rules.override(rule, false),
);
const resumeRule = control(
  'resume_rule',
  'Resume a rule',
  'Lets a suspended rule run again. Mend the loop first: get_rule says which way it goes.',
  false,
  (gateway, rule) => gateway.engine.rules.resume(rule),
);

/** What to do about a run that was refused. */
function hintFor(refused: Refusal, rule: string): string {
  if (refused === 'panic') return 'set_panic with panic: false ends it';
  if (refused === 'suspended') return 'it stays suspended: get_rule says why and what would mend it; then resume_rule';
  return `list_runs with rule: "${rule}" has what was seen: each condition with its values`;
}

const runRule = defineOp({
  name: 'run_rule',
  title: 'Run a rule now',
  description:
    'Starts a run as if a trigger had fired: condition, guard and run mode hold. Answers the run, or why there is none.',
  input: z.strictObject({
    id,
    args: z.record(z.string(), z.json()).optional().meta({ description: 'args.x in expressions' }),
  }),
  output: z.looseObject({}),
  effect: 'write',
  scope: 'devices:control',
  route: ['POST', '/rules/:id/run'],
  listed: true,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    gateway.rulebook.require(input.id);
    if (dryRun) return { id: input.id, dry_run: true };
    const cause = causeOf(gateway, caller);
    return gateway.engine.do(() => {
      const live = gateway.engine.rules.require(input.id);
      const args = (input.args ?? {}) as Record<string, Json>;
      const at = gateway.engine.core.iso(gateway.engine.core.timeline.now());
      const { run, refused } = gateway.engine.judge.demand({
        live,
        trigger: { id: 'run', type: 'run', at, args },
        cause,
        args,
      });
      return refused ? { id: input.id, refused, hint: hintFor(refused, input.id) } : { id: input.id, run: run?.id };
    });
  },
});

const listRevisions = defineOp({
  name: 'list_revisions',
  title: 'Revisions of a rule',
  description: 'Who changed a rule, when and through what, newest first, with the rule as it was.',
  input: z.strictObject({ id, limit: z.int().min(1).max(100).optional() }),
  output: z.looseObject({ revisions: z.array(z.looseObject({})) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/rules/:id/revisions'],
  listed: false,
  async run(gateway: Gateway, input) {
    const revisions = await gateway.store.revisions(input.id, input.limit ?? 20);
    return { revisions: revisions.map(revision => ({ ...revision, at: iso(revision.at) })) };
  },
});

const simulateRules = defineOp({
  name: 'simulate_rules',
  title: 'Simulate',
  description:
    'Runs a scenario in a world of its own with virtual time: given states, a timeline of events, what is expected. Nothing real is touched. With `rule` the tests of that saved rule are run instead.',
  input: z.strictObject({
    scenario: z
      .record(z.string(), z.json())
      .optional()
      .meta({ description: 'given, rules (written out), timeline, until, expect (docs/scenarios.md)' }),
    rule: z.string().optional().meta({ description: 'Id of a saved rule whose tests are to be run' }),
  }),
  output: z.looseObject({ ok: z.boolean() }),
  effect: 'read',
  scope: 'read',
  route: ['POST', '/simulate'],
  listed: true,
  async run(gateway: Gateway, input) {
    if ((input.scenario === undefined) === (input.rule === undefined)) {
      throw new CausewayError('INPUT_INVALID', 'give scenario or rule', {
        path: 'scenario',
        hint: 'scenario is written out (docs/scenarios.md), rule the id of a rule with tests',
      });
    }
    // Whoever may only read must not have files of this machine read for him; the errors would show what is in them.
    if (input.scenario?.files !== undefined) {
      throw new CausewayError('INPUT_INVALID', 'files are read by `causeway simulate` alone', {
        path: 'scenario/files',
        hint: 'write the rules out under scenario.rules; get_rule has a saved one as it is',
      });
    }
    const report = (scenarios: SimulationOutcome[]) => ({ ok: scenarios.every(one => one.ok), scenarios });
    if (input.scenario) return report(await gateway.simulate({ scenario: input.scenario as Json }));
    const entry = gateway.rulebook.require(input.rule as string);
    const tests = (entry.rule?.tests ?? []) as Json[];
    if (tests.length === 0) {
      throw new CausewayError('NOT_FOUND', `the rule "${entry.id}" has no tests`, { hint: 'add them under tests:' });
    }
    const { tests: _tests, ...rule } = entry.body as Record<string, Json>;
    return report(await gateway.simulate({ rule, tests }));
  },
});

/** Operations on rules. */
export const ruleOps = [
  listRules,
  getRule,
  getSchema,
  checkRule,
  createRule,
  updateRule,
  deleteRule,
  enableRule,
  disableRule,
  resumeRule,
  runRule,
  listRevisions,
  simulateRules,
];
