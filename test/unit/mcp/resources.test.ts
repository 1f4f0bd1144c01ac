import { describe, expect, it } from 'vitest';
import { canonicalUri, resourcesOf } from '../../../src/mcp/resources.ts';
import type { CallContext } from '../../../src/ops/op.ts';
import { fakeViews } from '../../kit/fake-views.ts';

const reader = (...scopes: string[]) =>
  ({ caller: { principal: 'x', scopes: new Set(scopes) } }) as unknown as CallContext;

describe('equivalent URIs', () => {
  it.each([
    ['rule://attic-fan', 'rule://attic-fan'],
    ['device://unifi/client%3Aaa%3abb', 'device://unifi/client:aa:bb'],
    ['device://iobroker/hue.0.k%c3%bcche', 'device://iobroker/hue.0.k%C3%BCche'],
    ['device://iobroker/hue.0.küche', 'device://iobroker/hue.0.k%C3%BCche'],
    ['device://x/a%2Fb', 'device://x/a%2Fb'],
    ['device://x/a%2', 'device://x/a%252'],
    ['no uri', 'no uri'],
  ])('%s has the one spelling %s', (uri, canonical) => {
    expect(canonicalUri(uri)).toBe(canonical);
    expect(canonicalUri(canonical)).toBe(canonical);
  });
});

describe('resources', () => {
  const resources = resourcesOf(fakeViews().resources);

  it('are found by their template, the parts decoded', async () => {
    expect(JSON.parse(await resources.read('device://iobroker/a%2Fb', reader('read')))).toMatchObject({
      backend: 'iobroker',
      id: 'a/b',
    });
    for (const uri of ['device://x', 'device://x/y/z', 'device://x/', 'rule://{id}', 'rules://other', 'xrule://a']) {
      expect([uri, resources.knows(uri)]).toEqual([uri, false]);
    }
  });

  it('are read only by who may read', async () => {
    await expect(resources.read('rule://attic-fan', reader('devices:control'))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(resources.read('house://x', reader('read'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: expect.stringContaining('rule://{id}'),
    });
  });
});
