import { expect, it } from 'vitest';
import { createAuthenticator, type Login } from '../../../broker/auth.ts';
import type { Principal } from '../../../broker/types.ts';
import { handClock, turn } from './kit.ts';

const alice: Principal = { name: 'alice', publish: [], subscribe: [] };
const login = (more: Partial<Login> = {}): Login => ({
  peer: { id: 'c', address: '10.0.0.1', secure: false },
  hasId: true,
  clean: true,
  username: undefined,
  password: undefined,
  holder: () => undefined,
  admit: () => true,
  claim: () => true,
  ...more,
});

it('lets in whom it is told to', async () => {
  expect(await createAuthenticator(handClock(), () => alice)(login())).toBe(alice);
  expect(await createAuthenticator(handClock(), async () => alice)(login({ holder: () => 'alice' }))).toBe(alice);
});

it.each([
  ['bad credentials', login(), () => null, { returnCode: 4, kind: 'login-failed' }],
  ['no id for a session', login({ hasId: false, clean: false }), () => alice, { returnCode: 2, kind: 'id-refused' }],
  [
    'an endless id',
    login({ peer: { ...login().peer, id: 'x'.repeat(300) } }),
    () => alice,
    { returnCode: 2, kind: 'id-refused' },
  ],
  ['the id of another user', login({ holder: () => 'bob' }), () => alice, { returnCode: 2, kind: 'id-taken' }],
  ['a full house', login({ admit: () => false }), () => alice, { returnCode: 3, kind: 'clients-full' }],
  ['too many sessions', login({ claim: () => false }), () => alice, { returnCode: 3, kind: 'sessions-full' }],
])('refuses for %s', async (_why, attempt, authenticate, refusal) => {
  await expect(createAuthenticator(handClock(), authenticate)(attempt)).rejects.toMatchObject(refusal);
});

it('passes on what went wrong while asking', async () => {
  const broken = createAuthenticator(handClock(), () => {
    throw new Error('broken');
  });
  await expect(broken(login())).rejects.toThrow('broken');
});

it('refuses when nobody answers in time', async () => {
  const clock = handClock();
  const attempt = createAuthenticator(clock, () => new Promise(() => {}))(login());
  const refused = expect(attempt).rejects.toMatchObject({ returnCode: 3 });
  clock.advance(10_000);
  await refused;
});

it('makes an address wait that has failed five times in a minute, and no other', async () => {
  const clock = handClock();
  let asked = 0;
  const authenticator = createAuthenticator(clock, (_peer, username) => {
    asked++;
    return username === 'alice' ? alice : null;
  });
  for (let i = 0; i < 5; i++) await authenticator(login()).catch(() => {});
  const late = authenticator(login({ username: 'alice' }));
  await authenticator(login({ username: 'alice', peer: { id: 'd', address: '10.0.0.2', secure: false } }));
  await turn();
  expect(asked).toBe(6);
  clock.advance(2_000);
  expect(await late).toBe(alice);
  clock.advance(60_000);
  expect(await authenticator(login({ username: 'alice' }))).toBe(alice);
});
