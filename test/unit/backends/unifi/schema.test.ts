import { describe, expect, test } from 'vitest';
import { UnifiSchema } from '../../../../src/backends/unifi/index.ts';

const parse = (more: object) =>
  UnifiSchema.safeParse({ type: 'unifi', url: 'https://192.168.1.1', api_key: 'k', ...more });
const problem = (more: object) => parse(more).error?.issues.map(({ path, message }) => `${path.join('/')}: ${message}`);

describe('the configuration of a console', () => {
  test('needs an address and a key or a login, and says the rest itself', () => {
    expect(parse({}).data).toMatchObject({
      site: 'default',
      poll: '30s',
      away_after: '5m',
      known_for: '30d',
      flows: 'off',
      protected: [],
      tls: { insecure: false },
    });
    expect(problem({ api_key: undefined })).toEqual([expect.stringContaining('give api_key, login, or both')]);
    expect(parse({ api_key: undefined, login: { username: 'a', password: 'b' } }).success).toBe(true);
  });

  test('takes the address alone, and no plain HTTP, over which a key would be read', () => {
    expect(problem({ url: 'http://192.168.1.1' })).toEqual([
      'url: expected https:// and the console’s name or address',
    ]);
    expect(problem({ url: 'https://192.168.1.1/network/default/dashboard' })).toEqual([
      'url: expected the console’s address alone, such as https://192.168.1.1',
    ]);
    expect(parse({ url: 'https://unifi.lan:11443' }).success).toBe(true);
  });

  test('shows neither key nor password', () => {
    const { data } = parse({ login: { username: 'a', password: 'very-secret' }, api_key: 'very-secret' });
    expect(JSON.stringify(data)).not.toContain('very-secret');
  });

  test('takes fingerprints as they are shown anywhere, and nothing else', () => {
    const pairs = Array.from({ length: 32 }, (_, i) => i.toString(16).padStart(2, '0'));
    for (const text of [pairs.join(':').toUpperCase(), pairs.join(''), `sha256:${pairs.join('')}`]) {
      expect(parse({ tls: { fingerprint: text } }).success, text).toBe(true);
    }
    expect(problem({ tls: { fingerprint: pairs.slice(12).join(':') } })).toEqual([expect.stringContaining('SHA-256')]);
    expect(problem({ tls: { insecure: true, fingerprint: pairs.join('') } })).toEqual([
      expect.stringContaining('tls/insecure'),
    ]);
  });

  test('reads MACs in any spelling', () => {
    expect(parse({ protected: ['00-00-5E-00-53-08'] }).data?.protected).toEqual(['00:00:5e:00:53:08']);
    expect(problem({ protected: ['server'] })).toEqual([expect.stringContaining('expected a MAC')]);
  });
});
