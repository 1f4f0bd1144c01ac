// Operations on the gateway itself: how it is, and who may use it.
import { z } from 'zod';
import { iso } from '../lib/clock.ts';
import { parseDuration } from '../lib/duration.ts';
import { CausewayError } from '../lib/errors.ts';
import type { PrincipalInfo } from '../policy/principals.ts';
import { ROLES, SCOPES } from '../policy/roles.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';
import { ruleState } from './show.ts';

const AnyObject = z.looseObject({});

const getSystem = defineOp({
  name: 'get_system',
  title: 'The gateway',
  description:
    'Version, addresses, backends, counts, what is suspended or broken, panic, and whether users exist. Start here.',
  input: z.strictObject({}),
  output: AnyObject,
  effect: 'read',
  scope: 'read',
  route: ['GET', '/system'],
  listed: true,
  async run(gateway: Gateway) {
    const { engine } = gateway;
    const { devices, house, surroundings, timeline } = engine.core;
    const { place, placeBy } = surroundings;
    const rules = gateway.rulebook.list().map(entry => ruleState(gateway, entry));
    return {
      version: gateway.version,
      demo: gateway.isDemo,
      started: iso(gateway.startedAt),
      now: iso(gateway.clock.now()),
      timezone: engine.core.surroundings.zone,
      ...(place && { location: { ...place, ...(placeBy !== undefined && { told_by: placeBy }) } }),
      addresses: gateway.addresses,
      ready: engine.isReady,
      panic: engine.core.gate.panic,
      mode: house.mode.value,
      devices: devices.all().length,
      rules: rules.length,
      troubled_rules: rules
        .filter(rule => rule.status !== 'ok' && rule.status !== 'dormant')
        .map(({ id, status, status_reason }) => ({ id, status, reason: status_reason })),
      running: engine.runs.all().length,
      timers: timeline.pending,
      backends: [...devices.allBackends()].map(([id, { state, ready, since, reason }]) => ({
        id,
        state,
        ready,
        since: iso(timeline.toWall(since)),
        ...(reason !== undefined && { reason }),
      })),
      counters: {
        ...engine.counters,
        ...gateway.journal.counters(),
        coalesced: engine.turns.inbox.coalesced,
        dropped_inputs: engine.turns.inbox.dropped,
      },
      ...(engine.turns.trouble !== undefined && { store_trouble: engine.turns.trouble }),
      open: gateway.principals.isOpen(),
    };
  },
});

/** A user with his instants as everywhere. */
const showUser = ({ created, tokens, ...user }: PrincipalInfo) => ({
  ...user,
  created: iso(created),
  tokens: tokens.map(token => ({
    ...token,
    created: iso(token.created),
    ...(token.expires !== undefined && { expires: iso(token.expires) }),
  })),
});

const listUsers = defineOp({
  name: 'list_users',
  title: 'List users',
  description: 'Who may use the gateway, with role, scopes and tokens (never the secrets themselves).',
  input: z.strictObject({}),
  output: z.looseObject({ users: z.array(AnyObject) }),
  effect: 'read',
  scope: 'admin',
  route: ['GET', '/users'],
  listed: false,
  async run(gateway: Gateway) {
    return { users: gateway.principals.list().map(showUser) };
  },
});

const addUser = defineOp({
  name: 'add_user',
  title: 'Add a user',
  description:
    'Adds a user with a role; without password he gets a token, shown this once. From the first user on nobody is let in without.',
  input: z.strictObject({
    name: z.string().min(1),
    role: z.enum(ROLES),
    scopes: z.array(z.enum(SCOPES)).optional(),
    password: z.string().min(8).meta({ kind: 'secret' }).optional(),
  }),
  output: AnyObject,
  effect: 'admin',
  scope: 'admin',
  route: ['POST', '/users'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    if (dryRun) return { name: input.name, role: input.role, dry_run: true };
    if (gateway.principals.isOpen() && input.role !== 'admin') {
      throw new CausewayError('INPUT_INVALID', 'the first user must be an admin, or nobody could add the next', {
        path: 'role',
        hint: 'use role admin',
      });
    }
    const made = await gateway.principals.add(input.name, {
      role: input.role,
      ...(input.scopes && { scopes: input.scopes }),
      ...(input.password !== undefined && { password: input.password }),
    });
    if (input.password !== undefined) return showUser(made);
    const { id, token } = await gateway.principals.issueToken(input.name, { label: 'first' });
    return { ...showUser(made), token_id: id, token };
  },
});

const removeUser = defineOp({
  name: 'remove_user',
  title: 'Remove a user',
  description: 'Removes a user with all tokens; open connections end.',
  input: z.strictObject({ name: z.string().min(1), confirm: z.boolean().optional() }),
  output: AnyObject,
  effect: 'destructive',
  scope: 'admin',
  route: ['DELETE', '/users/:name'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    if (!dryRun) await gateway.principals.remove(input.name);
    return { name: input.name, removed: !dryRun };
  },
});

const createToken = defineOp({
  name: 'create_token',
  title: 'Create a token',
  description: 'A token of a user, shown this once; `expires` as a duration, `scopes` narrow those of the user.',
  input: z.strictObject({
    name: z.string().min(1),
    label: z.string().optional(),
    expires: z.string().optional().meta({ description: 'How long it is good: 12h, 90d; for good without it' }),
    scopes: z.array(z.enum(SCOPES)).optional(),
  }),
  output: AnyObject,
  effect: 'admin',
  scope: 'admin',
  route: ['POST', '/users/:name/tokens'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    const expiresIn = input.expires === undefined ? undefined : parseDuration(input.expires);
    if (input.expires !== undefined && expiresIn === undefined)
      throw new CausewayError('INPUT_INVALID', `"${input.expires}" is no duration`, {
        path: 'expires',
        hint: 'write 12h, 90d; without it the token does not end',
      });
    if (dryRun) return { name: input.name, dry_run: true };
    const made = await gateway.principals.issueToken(input.name, {
      ...(input.label !== undefined && { label: input.label }),
      ...(expiresIn !== undefined && { expiresIn }),
      ...(input.scopes && { scopes: input.scopes }),
    });
    const expires = expiresIn === undefined ? {} : { expires: iso(gateway.clock.now() + expiresIn) };
    return { name: input.name, ...made, ...expires };
  },
});

const revokeToken = defineOp({
  name: 'revoke_token',
  title: 'Revoke a token',
  description: 'Removes a token by its id.',
  input: z.strictObject({ name: z.string().min(1), id: z.string().min(1), confirm: z.boolean().optional() }),
  output: AnyObject,
  effect: 'destructive',
  scope: 'admin',
  route: ['DELETE', '/users/:name/tokens/:id'],
  listed: false,
  async run(gateway: Gateway, input, { dryRun }) {
    if (!dryRun) await gateway.principals.revoke(input.name, input.id);
    return { name: input.name, id: input.id, revoked: !dryRun };
  },
});

/** Operations on the gateway itself. */
export const administrationOps = [getSystem, listUsers, addUser, removeUser, createToken, revokeToken];
