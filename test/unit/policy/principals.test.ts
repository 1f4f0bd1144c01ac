import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { openPrincipals } from '../../../src/policy/principals.ts';

const PASSWORD = 'correct horse';
const ADDRESS = '192.0.2.7';

/** A store in memory, and the principals on it. */
async function opened(rows: Record<string, Json> = {}, adminToken?: string) {
  const table = new Map(Object.entries(rows));
  const clock = new VirtualClock(1_000_000);
  const open = () =>
    openPrincipals({
      load: async () => new Map(table),
      save: async (name, row) => {
        if (row === undefined) table.delete(name);
        else table.set(name, JSON.parse(JSON.stringify(row)) as Json);
      },
      clock,
      adminToken,
    });
  return { table, clock, open, principals: await open() };
}

const code = (wanted: string) => expect.objectContaining({ code: wanted });

describe('an open gateway', () => {
  test('is one without any principal: whoever comes over loopback is an admin, nobody else is anybody', async () => {
    const { principals } = await opened();
    expect(principals.isOpen()).toBe(true);
    expect(principals.anonymous(true)).toMatchObject({ name: 'local', role: 'admin' });
    expect(principals.anonymous(false)).toBeUndefined();
  });

  test('is closed by the first principal and opened again by the removal of the last', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer' });
    expect(principals.isOpen()).toBe(false);
    expect(principals.anonymous(true)).toBeUndefined();
    await principals.remove('anna');
    expect(principals.isOpen()).toBe(true);
  });

  test('is closed by CAUSEWAY_ADMIN_TOKEN', async () => {
    const { principals } = await opened({}, 'a-token-of-some-length');
    expect(principals.isOpen()).toBe(false);
  });

  test('is not opened by a row that cannot be read; that row can be removed', async () => {
    const { principals, table } = await opened({ anna: { role: 'emperor' } });
    expect(principals.isOpen()).toBe(false);
    expect(principals.list()).toEqual([]);
    await principals.remove('anna');
    expect(table.size).toBe(0);
    expect(principals.isOpen()).toBe(true);
  });
});

describe('users', () => {
  test('are listed by name, without hashes', async () => {
    const { principals } = await opened();
    await principals.add('zoe', { role: 'admin' });
    await principals.add('anna', { role: 'operator', scopes: ['read', 'admin'], password: PASSWORD });
    const { token } = await principals.issueToken('anna', { label: 'laptop' });
    expect(principals.list()).toEqual([
      {
        name: 'anna',
        role: 'operator',
        scopes: ['read'],
        hasPassword: true,
        created: 1_000_000,
        tokens: [{ id: expect.any(String), label: 'laptop', scopes: ['read'], created: 1_000_000 }],
      },
      expect.objectContaining({ name: 'zoe', hasPassword: false, tokens: [] }),
    ]);
    expect(JSON.stringify(principals.list())).not.toContain(token);
  });

  test('survive a restart', async () => {
    const { principals, open } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    const again = await open();
    expect(again.find('anna')).toMatchObject({ name: 'anna', role: 'viewer' });
    await expect(again.authenticatePassword('anna', PASSWORD, ADDRESS)).resolves.toMatchObject({ name: 'anna' });
  });

  test('have names of their own, that do for MQTT and the command line', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer' });
    await expect(principals.add('anna', { role: 'admin' })).rejects.toEqual(code('EXISTS'));
    for (const name of ['', 'a b', '-x', 'a/b', 'local', 'environment', 'x'.repeat(65)]) {
      await expect(principals.add(name, { role: 'viewer' })).rejects.toEqual(code('INPUT_INVALID'));
    }
  });

  test('that do not exist are told with the nearest name', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer' });
    await expect(principals.remove('ana')).rejects.toEqual(
      expect.objectContaining({ code: 'NOT_FOUND', hint: 'did you mean "anna"?' }),
    );
    await expect(principals.setPassword('bob', PASSWORD)).rejects.toEqual(code('NOT_FOUND'));
    await expect(principals.issueToken('bob')).rejects.toEqual(code('NOT_FOUND'));
  });

  test('keep both of two tokens that are issued at the same time', async () => {
    const { principals, table } = await opened();
    await principals.add('anna', { role: 'viewer' });
    await Promise.all([
      principals.issueToken('anna'),
      principals.issueToken('anna'),
      principals.setPassword('anna', PASSWORD),
    ]);
    expect(principals.list()[0]).toMatchObject({ hasPassword: true, tokens: [{}, {}] });
    expect(table.get('anna')).toMatchObject({ tokens: [{}, {}] });
  });

  test('stay as they were when the store refuses', async () => {
    const clock = new VirtualClock(0);
    const save = () => Promise.reject(new Error('disk full'));
    const principals = await openPrincipals({ load: async () => new Map(), save, clock });
    await expect(principals.add('anna', { role: 'viewer' })).rejects.toThrow('disk full');
    expect(principals.list()).toEqual([]);
    expect(principals.isOpen()).toBe(true);
  });
});

describe('passwords', () => {
  test('are stored as salted scrypt in PHC form', async () => {
    const { principals, table } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    await principals.add('bob', { role: 'viewer', password: PASSWORD });
    const [anna, bob] = [table.get('anna'), table.get('bob')] as { password: string }[];
    expect(anna?.password).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(anna?.password).not.toBe(bob?.password);
  });

  test('let in who knows them, with his role, and nobody else', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'operator', password: PASSWORD });
    await principals.add('tokens-only', { role: 'admin' });
    const anna = await principals.authenticatePassword('anna', PASSWORD, ADDRESS);
    expect(anna).toMatchObject({ name: 'anna', role: 'operator' });
    for (const [name, password] of [
      ['anna', 'correct horsE'],
      ['nobody', PASSWORD],
      ['tokens-only', ''],
    ] as const) {
      await expect(principals.authenticatePassword(name, password, ADDRESS)).rejects.toEqual(code('UNAUTHENTICATED'));
    }
  });

  test('spelled with other Unicode characters of the same look are the same', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer', password: 'caf\u00e9 latte' });
    await expect(principals.authenticatePassword('anna', 'cafe\u0301 latte', ADDRESS)).resolves.toMatchObject({
      name: 'anna',
    });
  });

  test('that are changed no longer let in, although they were known to be good', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    await principals.authenticatePassword('anna', PASSWORD, ADDRESS);
    await principals.setPassword('anna', 'another horse');
    await expect(principals.authenticatePassword('anna', PASSWORD, ADDRESS)).rejects.toEqual(code('UNAUTHENTICATED'));
    await expect(principals.authenticatePassword('anna', 'another horse', ADDRESS)).resolves.toBeDefined();
    await principals.remove('anna');
    await expect(principals.authenticatePassword('anna', 'another horse', ADDRESS)).rejects.toEqual(
      code('UNAUTHENTICATED'),
    );
  });

  test('that are known to be good cost no hash: a thousand sign-ins take less than five hashes would', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    const start = performance.now();
    await principals.authenticatePassword('anna', PASSWORD, ADDRESS);
    const oneHash = performance.now() - start;
    const again = performance.now();
    for (let i = 0; i < 1_000; i++) await principals.authenticatePassword('anna', PASSWORD, ADDRESS);
    expect(performance.now() - again).toBeLessThan(Math.max(5 * oneHash, 200));
  });

  test('have 8 to 256 characters', async () => {
    const { principals } = await opened();
    await expect(principals.add('anna', { role: 'viewer', password: 'short' })).rejects.toEqual(code('INPUT_INVALID'));
    await expect(principals.add('anna', { role: 'viewer', password: 'x'.repeat(257) })).rejects.toEqual(
      code('INPUT_INVALID'),
    );
    await expect(principals.authenticatePassword('anna', 'x'.repeat(1e6), ADDRESS)).rejects.toEqual(
      code('UNAUTHENTICATED'),
    );
  });
});

describe('five failures in a minute', () => {
  test('make an address wait, also with the right password, and then no longer', async () => {
    const { principals, clock } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    for (let i = 0; i < 5; i++) {
      await expect(principals.authenticatePassword('anna', `wrong ${i}`, ADDRESS)).rejects.toEqual(
        code('UNAUTHENTICATED'),
      );
    }
    await expect(principals.authenticatePassword('anna', PASSWORD, ADDRESS)).rejects.toEqual(
      expect.objectContaining({ code: 'RATE_LIMITED', details: { retryAfterMs: 60_000 } }),
    );
    await expect(principals.authenticatePassword('anna', PASSWORD, `::ffff:${ADDRESS}`)).rejects.toEqual(
      code('RATE_LIMITED'),
    );
    await expect(principals.authenticatePassword('anna', PASSWORD, '192.0.2.8')).resolves.toBeDefined();
    clock.advanceTo(60_001);
    await expect(principals.authenticatePassword('anna', PASSWORD, ADDRESS)).resolves.toBeDefined();
  });

  test('are five, however many guesses come at once', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    const guesses = Array.from({ length: 30 }, (_, i) =>
      principals.authenticatePassword('anna', `wrong ${i}`, ADDRESS),
    );
    const codes = (await Promise.allSettled(guesses)).map(result => result.status === 'rejected' && result.reason.code);
    expect(codes.filter(found => found === 'UNAUTHENTICATED')).toHaveLength(5);
    expect(codes.filter(found => found === 'RATE_LIMITED')).toHaveLength(25);
  });

  test('are not reached by thirty clients of one machine that come back at once with the right password', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    const clients = Array.from({ length: 30 }, () => principals.authenticatePassword('anna', PASSWORD, ADDRESS));
    await expect(Promise.all(clients)).resolves.toHaveLength(30);
  });

  test('count wrong tokens too, but do not stop a token of ours', async () => {
    const { principals } = await opened({}, 'a-token-of-some-length');
    await principals.add('anna', { role: 'viewer' });
    const { token } = await principals.issueToken('anna');
    for (let i = 0; i < 5; i++) {
      expect(() => principals.authenticateToken(`cwy_${i}`, ADDRESS)).toThrow(code('UNAUTHENTICATED'));
    }
    expect(() => principals.authenticateToken('a-token-of-some-length', ADDRESS)).toThrow(code('RATE_LIMITED'));
    expect(principals.authenticateToken(token, ADDRESS)).toMatchObject({ name: 'anna' });
  });
});

describe('tokens', () => {
  test('are 256 random bits behind cwy_, kept as a hash only', async () => {
    const { principals, table } = await opened();
    await principals.add('anna', { role: 'operator' });
    const { token } = await principals.issueToken('anna');
    expect(token).toMatch(/^cwy_[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(table.get('anna'))).not.toContain(token.slice(4));
    expect(principals.authenticateToken(token, ADDRESS)).toMatchObject({ name: 'anna', role: 'operator' });
  });

  test('may be narrower than their principal, never wider', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'operator', scopes: ['read', 'devices:control'] });
    const { token } = await principals.issueToken('anna', { scopes: ['read', 'rules:write', 'admin'] });
    expect([...principals.authenticateToken(token, ADDRESS).scopes]).toEqual(['read']);
  });

  test('end when they expire, and are then forgotten with the next one', async () => {
    const { principals, clock } = await opened();
    await principals.add('anna', { role: 'viewer' });
    const { token } = await principals.issueToken('anna', { expiresIn: 1_000 });
    clock.advanceTo(999);
    expect(principals.authenticateToken(token, ADDRESS).name).toBe('anna');
    clock.advanceTo(1_000);
    expect(() => principals.authenticateToken(token, ADDRESS)).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED', hint: 'The token has expired; issue a new one.' }),
    );
    await principals.issueToken('anna');
    expect(principals.list()[0]?.tokens).toHaveLength(1);
  });

  test('are revoked one by one', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'viewer' });
    const [one, two] = [await principals.issueToken('anna'), await principals.issueToken('anna')];
    await principals.revoke('anna', one.id);
    expect(() => principals.authenticateToken(one.token, ADDRESS)).toThrow(code('UNAUTHENTICATED'));
    expect(principals.authenticateToken(two.token, ADDRESS).name).toBe('anna');
    await expect(principals.revoke('anna', one.id)).rejects.toEqual(code('NOT_FOUND'));
  });

  test('of the environment make an admin who is in no list', async () => {
    const { principals, table } = await opened({}, 'a-token-of-some-length');
    expect(principals.authenticateToken('a-token-of-some-length', ADDRESS)).toMatchObject({
      name: 'environment',
      role: 'admin',
    });
    expect(principals.find('environment')).toMatchObject({ role: 'admin' });
    expect(principals.list()).toEqual([]);
    expect(table.size).toBe(0);
  });
});

describe('what let somebody in', () => {
  const stage = async () => {
    const { principals, clock } = await opened();
    await principals.add('anna', { role: 'viewer', password: PASSWORD });
    const { id, token } = await principals.issueToken('anna', { expiresIn: 60_000 });
    const byToken = principals.authenticateToken(token, ADDRESS);
    const byPassword = await principals.authenticatePassword('anna', PASSWORD, ADDRESS);
    return { principals, clock, id, byToken, byPassword };
  };

  test('would do so again while nothing has changed', async () => {
    const { principals, byToken, byPassword } = await stage();
    expect([byToken, byPassword].map(principals.isCurrent)).toEqual([true, true]);
  });

  test('would not, once the token is revoked', async () => {
    const { principals, id, byToken, byPassword } = await stage();
    await principals.revoke('anna', id);
    expect([byToken, byPassword].map(principals.isCurrent)).toEqual([false, true]);
  });

  test('would not, once the token has expired', async () => {
    const { principals, clock, byToken, byPassword } = await stage();
    clock.moveTo(60_001);
    expect([byToken, byPassword].map(principals.isCurrent)).toEqual([false, true]);
  });

  test('would not, once the password is another one', async () => {
    const { principals, byToken, byPassword } = await stage();
    await principals.setPassword('anna', 'quite another one');
    expect([byToken, byPassword].map(principals.isCurrent)).toEqual([true, false]);
  });

  test('would not, once the user is gone, nor once there are users where anybody was let in', async () => {
    const { principals, byToken, byPassword } = await stage();
    expect(principals.isCurrent({ name: 'local' })).toBe(false);
    await principals.remove('anna');
    expect([byToken, byPassword].map(principals.isCurrent)).toEqual([false, false]);
    expect(principals.isCurrent({ name: 'local' })).toBe(true);
  });

  test('is the environment’s token while the process has one', async () => {
    const { principals } = await opened({}, 'a-token-of-some-length');
    const environment = principals.authenticateToken('a-token-of-some-length', ADDRESS);
    expect(principals.isCurrent(environment)).toBe(true);
    expect((await opened()).principals.isCurrent(environment)).toBe(false);
  });
});

describe('the last admin', () => {
  test('stays while there are others, who could let nobody in', async () => {
    const { principals } = await opened();
    await principals.add('anna', { role: 'admin' });
    await principals.add('ben', { role: 'operator' });
    await expect(principals.remove('anna')).rejects.toEqual(code('INPUT_INVALID'));
    await principals.add('carl', { role: 'admin' });
    await principals.remove('anna');
    await principals.remove('ben');
    await principals.remove('carl');
    expect(principals.isOpen()).toBe(true);
  });

  test('may go where the process has a token of its own for an admin', async () => {
    const { principals } = await opened({}, 'a-token-of-some-length');
    await principals.add('anna', { role: 'admin' });
    await principals.add('ben', { role: 'operator' });
    await principals.remove('anna');
    expect(principals.find('anna')).toBeUndefined();
  });
});
