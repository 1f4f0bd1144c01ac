import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { adminToken } from '../../../src/config/environment.ts';

describe('CAUSEWAY_ADMIN_TOKEN', () => {
  const token = 'a-token-of-some-length';

  test('is a secret', () => {
    expect(adminToken({ CAUSEWAY_ADMIN_TOKEN: token })?.reveal()).toBe(token);
    expect(String(adminToken({ CAUSEWAY_ADMIN_TOKEN: token }))).toBe('***');
  });

  test('may come from a file', () => {
    const dir = mkdtempSync(join(tmpdir(), 'causeway-token-'));
    const file = join(dir, 'token');
    writeFileSync(file, `${token}\n`);
    expect(adminToken({ CAUSEWAY_ADMIN_TOKEN_FILE: file })?.reveal()).toBe(token);
    rmSync(dir, { recursive: true });
  });

  test('is none when it is not set or empty', () => {
    expect(adminToken({})).toBeUndefined();
    expect(adminToken({ CAUSEWAY_ADMIN_TOKEN: '' })).toBeUndefined();
  });

  test('is refused when it is short, without being told', () => {
    expect(() => adminToken({ CAUSEWAY_ADMIN_TOKEN: 'hush' })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('hush') }),
    );
  });

  test('is refused when its file cannot be read', () => {
    expect(() => adminToken({ CAUSEWAY_ADMIN_TOKEN_FILE: '/nowhere' })).toThrow(
      /CAUSEWAY_ADMIN_TOKEN_FILE: \/nowhere cannot be read/,
    );
  });
});
