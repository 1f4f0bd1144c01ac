import { scryptSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { passwords } from '../../../src/policy/password.ts';

/** A hash that costs next to nothing. */
const cheap = (password: string): string => {
  const salt = Buffer.from('0123456789abcdef');
  const hash = scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 });
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=4,r=8,p=1$${text(salt)}$${text(hash)}`;
};

describe('password hashes', () => {
  test('fit the password that they were made of', async () => {
    const { hash, verify } = passwords();
    const phc = await hash('correct horse');
    expect(await verify('correct horse', phc)).toBe(true);
    expect(await verify('correct horsE', phc)).toBe(false);
  });

  test('say themselves how they were made', async () => {
    expect(await passwords().verify('pw', cheap('pw'))).toBe(true);
  });

  test('that are missing or broken fit nothing', async () => {
    const { verify } = passwords();
    for (const phc of [undefined, '', 'plain', '$scrypt$ln=15$x$y', '$2b$10$abc'])
      expect(await verify('plain', phc)).toBe(false);
  });

  test('of more than 34 callers at once are refused: two at work, 32 waiting', async () => {
    const { verify } = passwords();
    const phc = cheap('pw');
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => verify('pw', phc)));
    expect(results.filter(result => result.status === 'fulfilled' && result.value)).toHaveLength(34);
    const refused = results.filter(result => result.status === 'rejected');
    expect(refused.map(result => result.reason.code)).toEqual(Array(6).fill('RATE_LIMITED'));
    expect(await verify('pw', phc)).toBe(true);
  });

  test('that cannot be computed leave the queue free', async () => {
    const { verify } = passwords();
    const tooMuch = cheap('pw').replace('ln=4', 'ln=30');
    for (let i = 0; i < 5; i++) await expect(verify('pw', tooMuch)).rejects.toThrow();
    expect(await verify('pw', cheap('pw'))).toBe(true);
  });
});
