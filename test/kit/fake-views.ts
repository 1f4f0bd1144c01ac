// A small house for tests of the views: a few operations of each effect, some resources, no engine behind. It asks for
// scope, confirmation and a valid input as policy does.
import { Subject } from 'rxjs';
import { z } from 'zod';
import { CausewayError } from '../../src/lib/errors.ts';
import { encodeLevel } from '../../src/lib/topic.ts';
import type { BoundOp, CallContext, OpEffect, ResourceKind, Scope, Views } from '../../src/ops/op.ts';

/** A call that reached an operation. */
export interface FakeCall {
  readonly op: string;
  readonly input: Record<string, unknown>;
  readonly context: CallContext;
}

/** The views, with hands to move them. */
export interface FakeViews extends Views {
  readonly calls: FakeCall[];
  readonly rules: Map<string, Record<string, unknown>>;
  /** Tells that these resources changed. */
  update(...uris: string[]): void;
  changeList(): void;
  setHealth(ready: boolean): void;
}

/** A condition that nests in itself, as those of rules do. */
const Condition: z.ZodType = z
  .lazy(() => z.strictObject({ type: z.enum(['and', 'state']), conditions: z.array(Condition).optional() }))
  .meta({ id: 'FakeCondition' });

const FakeRule = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    condition: Condition.optional(),
    actions: z.array(Condition).optional(),
  })
  .meta({ id: 'FakeRule', description: 'The rule.' });

const AnyOutput = z.looseObject({});

/** A fresh house with one rule. @param more further operations, already bound */
export function fakeViews(more: readonly BoundOp[] = []): FakeViews {
  const updated$ = new Subject<string>();
  const listChanged$ = new Subject<void>();
  const calls: FakeCall[] = [];
  const rules = new Map<string, Record<string, unknown>>([['attic-fan', { id: 'attic-fan', name: 'Attic fan' }]]);
  let ready = true;

  const ruleOf = (id: unknown) => {
    const rule = rules.get(String(id));
    if (!rule)
      throw new CausewayError('RULE_NOT_FOUND', `there is no rule "${id}"`, {
        path: 'id',
        hint: 'did you mean "attic-fan"?',
      });
    return rule;
  };
  const op = (options: FakeOp): BoundOp => boundOp(options, calls);
  const id = z.string().meta({ description: 'Id of the rule' });

  const ops: BoundOp[] = [
    op({
      name: 'list_rules',
      route: ['GET', '/rules'],
      input: z.strictObject({
        limit: z.int().min(1).max(100).default(50),
        enabled: z.boolean().optional(),
        tags: z.array(z.string()).optional(),
        status: z.enum(['ok', 'suspended']).optional(),
      }),
      run: input => ({ rules: [...rules.values()], asked: input }),
    }),
    op({
      name: 'get_rule_schema',
      route: ['GET', '/rules/schema'],
      input: z.strictObject({}),
      run: () => ({ schema: {} }),
    }),
    op({
      name: 'get_rule',
      route: ['GET', '/rules/:id'],
      input: z.strictObject({ id }),
      run: input => ({ rule: ruleOf(input.id) }),
    }),
    op({
      name: 'create_rule',
      route: ['POST', '/rules'],
      effect: 'write',
      scope: 'rules:write',
      input: z.strictObject({ rule: FakeRule }),
      run: (input, context) => {
        const rule = input.rule as { id: string };
        if (context.dryRun) return { would: 'create', rule };
        rules.set(rule.id, rule);
        updated$.next('rules://all');
        listChanged$.next();
        return { rule };
      },
    }),
    op({
      name: 'update_rule',
      route: ['PUT', '/rules/:id'],
      effect: 'write',
      scope: 'rules:write',
      idempotent: true,
      input: z.strictObject({ id, name: z.string() }),
      run: input => {
        const rule = { ...ruleOf(input.id), name: input.name };
        rules.set(String(input.id), rule);
        updated$.next(`rule://${encodeLevel(String(input.id))}`);
        return { rule };
      },
    }),
    op({
      name: 'delete_rule',
      route: ['DELETE', '/rules/:id'],
      effect: 'destructive',
      scope: 'rules:write',
      input: z.strictObject({ id }),
      run: (input, context) => {
        ruleOf(input.id);
        if (!context.dryRun) rules.delete(String(input.id));
        return { deleted: input.id };
      },
    }),
    op({
      name: 'send_command',
      route: ['POST', '/devices/:device/commands/:command'],
      effect: 'write',
      scope: 'devices:control',
      input: z.strictObject({
        device: z.string(),
        command: z.string(),
        args: z.record(z.string(), z.json()).optional(),
      }),
      run: input => ({ outcome: 'sent', ...input }),
    }),
    op({
      name: 'add_user',
      route: ['POST', '/users'],
      effect: 'admin',
      scope: 'admin',
      listed: false,
      input: z.strictObject({ name: z.string(), role: z.enum(['viewer', 'operator', 'admin']) }),
      run: input => ({ user: input.name, token: 'made-for-you' }),
    }),
    op({
      name: 'get_statistics',
      route: ['GET', '/statistics'],
      listed: false,
      input: z.strictObject({ of: z.string().optional() }),
      run: () => ({ events: 7 }),
    }),
    op({
      name: 'break_things',
      route: ['POST', '/break'],
      listed: false,
      input: z.strictObject({}),
      run: () => {
        throw new TypeError('a fault inside');
      },
    }),
    ...more,
  ];

  const resources: ResourceKind[] = [
    {
      template: 'rules://all',
      name: 'rules',
      title: 'All rules',
      description: 'Every rule with its status',
      read: async () => ({ rules: [...rules.values()] }),
    },
    {
      template: 'rule://{id}',
      name: 'rule',
      title: 'A rule',
      description: 'A rule with its status',
      read: async ({ id: rule }) => ruleOf(rule),
      list: async () => [...rules.keys()].map(rule => ({ uri: `rule://${encodeLevel(rule)}`, name: rule })),
    },
    {
      template: 'device://{backend}/{id}',
      name: 'device',
      title: 'A device',
      description: 'Its values',
      read: async parts => ({ ...parts, values: { switch: 'on' } }),
    },
  ];

  return {
    version: '0.0.0-test',
    ops,
    resources,
    updated$,
    listChanged$,
    health: () => ({
      ready,
      parts: { bus: { ok: true }, store: { ok: ready, ...(!ready && { note: 'still opening' }) } },
    }),
    metrics: () => '# TYPE causeway_events_total counter\ncauseway_events_total 7\n',
    calls,
    rules,
    update: (...uris) => {
      for (const uri of uris) updated$.next(uri);
    },
    changeList: () => listChanged$.next(),
    setHealth: value => {
      ready = value;
    },
  };
}

interface FakeOp {
  readonly name: string;
  readonly route: BoundOp['route'];
  readonly input: z.ZodObject;
  readonly effect?: OpEffect;
  readonly scope?: Scope;
  readonly listed?: boolean;
  readonly idempotent?: boolean;
  run(input: Record<string, unknown>, context: CallContext): Record<string, unknown>;
}

/** An operation that checks as policy does, then runs. */
export function boundOp({ run, ...options }: FakeOp, calls: FakeCall[] = []): BoundOp {
  const { name, effect = 'read', scope = 'read', listed = true } = options;
  return {
    ...options,
    title: name.replaceAll('_', ' '),
    description: `Does ${name.replaceAll('_', ' ')} in the fake house.`,
    output: AnyOutput,
    effect,
    scope,
    listed,
    async call(raw, context) {
      if (!context.caller.scopes.has(scope)) throw new CausewayError('FORBIDDEN', `${name} wants the scope ${scope}`);
      const { confirm, ...rest } = raw as Record<string, unknown>;
      const parsed = options.input.safeParse(effect === 'destructive' ? rest : raw);
      if (!parsed.success) {
        const issue = parsed.error.issues[0];
        throw new CausewayError('INPUT_INVALID', issue?.message ?? '', {
          path: issue?.path.join('/') ?? '',
          hint: 'see the schema',
        });
      }
      if (effect === 'destructive' && confirm !== true && !context.dryRun) {
        throw new CausewayError('CONFIRM_REQUIRED', `${name} takes something away and wants to be confirmed`, {
          hint: 'call again with confirm: true',
        });
      }
      calls.push({ op: name, input: parsed.data, context });
      return run(parsed.data, context);
    },
  };
}
