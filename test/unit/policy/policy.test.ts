// What is asked before every operation, and what is written down after it.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CausewayError } from '../../../src/lib/errors.ts';
import { type Ruled, ruled, type Switches } from '../../../src/policy/policy.ts';
import { type Role, scopesOf } from '../../../src/policy/roles.ts';
import type { AuditRecord } from '../../../src/store/store.ts';

const all: Switches = { reads: true, writes: true, ops: {} };
const op = (effect: Ruled['effect'], scope: Ruled['scope'], name = 'set_thing'): Ruled => ({
  name,
  effect,
  scope,
  input: z.strictObject({ id: z.string(), password: z.string().optional(), confirm: z.boolean().optional() }),
});

async function ask(what: Ruled, input: unknown, { role = 'admin' as Role, switches = all, dryRun = false } = {}) {
  const audit: AuditRecord[] = [];
  const call = { caller: { principal: 'eva', scopes: scopesOf(role), via: 'rest' }, dryRun };
  const outcome = await ruled(
    what,
    input,
    call,
    { switches, now: () => 7, audit: record => audit.push(record) },
    async () => 'done',
  ).catch((error: CausewayError) => error.code);
  return { outcome, audit };
}

describe('a caller', () => {
  it('without the scope is refused, and that is written down', async () => {
    const { outcome, audit } = await ask(op('write', 'rules:write'), { id: 'a' }, { role: 'viewer' });
    expect(outcome).toBe('FORBIDDEN');
    expect(audit).toMatchObject([
      { principal: 'eva', via: 'rest', op: 'set_thing', outcome: 'denied', code: 'FORBIDDEN', at: 7 },
    ]);
  });

  it('with a wrong input is told the place and the nearest name', async () => {
    const error = await ruled(
      op('read', 'read'),
      { ID: 'a' },
      { caller: { principal: 'eva', scopes: scopesOf('viewer'), via: 'mcp' }, dryRun: false },
      { switches: all, now: () => 0, audit: () => {} },
      async () => 1,
    ).catch(e => e as CausewayError);
    expect(error).toBeInstanceOf(CausewayError);
    expect((error as CausewayError).code).toBe('INPUT_INVALID');
    expect(JSON.stringify((error as CausewayError).details)).toContain('id');
  });

  it('must confirm what cannot be undone, but not to see what it would do', async () => {
    const destroy = op('destructive', 'rules:write');
    expect((await ask(destroy, { id: 'a' })).outcome).toBe('CONFIRM_REQUIRED');
    expect((await ask(destroy, { id: 'a', confirm: true })).outcome).toBe('done');
    expect((await ask(destroy, { id: 'a' }, { dryRun: true })).outcome).toBe('done');
  });
});

describe('the house’s switches', () => {
  it('stop all writing, all reading, or one operation, and let one through again', async () => {
    const write = op('write', 'rules:write');
    const read = op('read', 'read', 'get_thing');
    expect((await ask(write, { id: 'a' }, { switches: { ...all, writes: false } })).outcome).toBe('SWITCHED_OFF');
    expect((await ask(read, { id: 'a' }, { switches: { ...all, writes: false } })).outcome).toBe('done');
    expect((await ask(read, { id: 'a' }, { switches: { ...all, reads: false } })).outcome).toBe('SWITCHED_OFF');
    expect((await ask(write, { id: 'a' }, { switches: { ...all, ops: { set_thing: false } } })).outcome).toBe(
      'SWITCHED_OFF',
    );
    expect(
      (await ask(write, { id: 'a' }, { switches: { reads: true, writes: false, ops: { set_thing: true } } })).outcome,
    ).toBe('done');
  });
});

describe('the audit', () => {
  it('records writes and not reads, dry runs neither', async () => {
    expect((await ask(op('write', 'rules:write'), { id: 'a' })).audit).toHaveLength(1);
    expect((await ask(op('read', 'read'), { id: 'a' })).audit).toEqual([]);
    expect((await ask(op('write', 'rules:write'), { id: 'a' }, { dryRun: true })).audit).toEqual([]);
  });

  it('never holds a password', async () => {
    const { audit } = await ask(op('write', 'admin'), { id: 'a', password: 'hunter22hunter' });
    expect(JSON.stringify(audit)).not.toContain('hunter22');
    expect(audit[0]?.input).toMatchObject({ id: 'a', password: '***' });
  });
});
