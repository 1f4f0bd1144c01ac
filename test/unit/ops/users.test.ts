// Users and tokens as an admin sees them: instants as everywhere else.
import { expect, it } from 'vitest';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { administrationOps } from '../../../src/ops/administration.ts';
import type { Gateway } from '../../../src/ops/gateway.ts';
import type { CallContext } from '../../../src/ops/op.ts';

const START = Date.UTC(2026, 0, 5);

const gateway = {
  clock: new VirtualClock(START),
  principals: {
    list: () => [
      {
        name: 'anna',
        role: 'admin',
        scopes: ['admin'],
        hasPassword: false,
        created: START,
        tokens: [
          { id: 'a', label: 'first', scopes: ['admin'], created: START },
          { id: 'b', label: 'guest', scopes: ['read'], created: START, expires: START + 3_600_000 },
        ],
      },
    ],
    issueToken: async () => ({ id: 'c', token: 'cwy_x' }),
  },
} as unknown as Gateway;

const call = (name: string, input: object) => {
  const op = administrationOps.find(one => one.name === name);
  if (!op) throw new Error(name);
  return op.run(gateway, input as never, { dryRun: false } as CallContext);
};

it('users and their tokens have stamps, not milliseconds', async () => {
  expect(await call('list_users', {})).toMatchObject({
    users: [
      {
        created: '2026-01-05T00:00:00.000Z',
        tokens: [
          { id: 'a', created: '2026-01-05T00:00:00.000Z' },
          { id: 'b', expires: '2026-01-05T01:00:00.000Z' },
        ],
      },
    ],
  });
});

it('a token that ends says when', async () => {
  expect(await call('create_token', { name: 'anna', expires: '12h' })).toMatchObject({
    token: 'cwy_x',
    expires: '2026-01-05T12:00:00.000Z',
  });
  expect(await call('create_token', { name: 'anna' })).not.toHaveProperty('expires');
  await expect(call('create_token', { name: 'anna', expires: 'tomorrow' })).rejects.toMatchObject({
    hint: expect.stringContaining('12h'),
  });
});
