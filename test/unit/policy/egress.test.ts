// Where requests of rules may go.
import { describe, expect, it } from 'vitest';
import type { CausewayError } from '../../../src/lib/errors.ts';
import { egressOf } from '../../../src/policy/egress.ts';

const verdict = (allow: string[], url: string) =>
  egressOf(allow)
    .check(url)
    .then(
      () => 'allowed',
      (error: CausewayError) => error.code,
    );

describe('by default', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost:8480/api/rules',
    'http://[::1]:1883/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fe80::1]/',
  ])('this machine, its link and cloud metadata are out of reach: %s', async url => {
    expect(await verdict(['*'], url)).toBe('FORBIDDEN');
  });

  it('any other address is within reach', async () => {
    expect(await verdict(['*'], 'http://192.0.2.7/hook')).toBe('allowed');
  });
});

describe('a list', () => {
  it.each([
    [['192.0.2.7'], 'http://192.0.2.7/', 'allowed'],
    [['192.0.2.7'], 'http://192.0.2.8/', 'FORBIDDEN'],
    [['192.0.2.0/24'], 'http://192.0.2.8/', 'allowed'],
    [['192.0.2.0/24'], 'http://192.0.3.8/', 'FORBIDDEN'],
    [['192.0.2.7:8080'], 'http://192.0.2.7:8080/', 'allowed'],
    [['192.0.2.7:8080'], 'http://192.0.2.7/', 'FORBIDDEN'],
    [['127.0.0.1:9000'], 'http://127.0.0.1:9000/', 'allowed'],
    [['127.0.0.1:9000'], 'http://127.0.0.1:9001/', 'FORBIDDEN'],
    [['*', 'localhost'], 'http://localhost/', 'allowed'],
    [[], 'http://192.0.2.7/', 'FORBIDDEN'],
  ])('%j says of %s: %s', async (allow, url, expected) => {
    expect(await verdict(allow, url)).toBe(expected);
  });

  it('refuses what is no web address', async () => {
    expect(await verdict(['*'], 'file:///etc/passwd')).toBe('FORBIDDEN');
    expect(await verdict(['*'], 'nonsense')).toBe('INPUT_INVALID');
  });
});
