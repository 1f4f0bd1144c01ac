// Whether a line to the internet is up, by what the console and its gateway say.
import { expect, test } from 'vitest';
import { isWanUp } from '../../../../src/backends/unifi/network/map-site.ts';

const row = (state: string | undefined) => ({ name: 'Fibre', state, wan_networkgroup: 'WAN' }) as never;

test.each([
  ['ACTIVE', undefined, true],
  ['backup', undefined, true],
  ['OFFLINE', undefined, false],
  ['OFFLINE', 'online', false],
  // A word that was never recorded: the gateway decides.
  ['DISTRIBUTED', 'online', true],
  ['DISTRIBUTED', undefined, false],
  [undefined, 'online', true],
  [undefined, 'offline', false],
  [undefined, undefined, undefined],
])('a line that is %s, of which the gateway says %s: %s', (state, gateway, up) => {
  expect(isWanUp(row(state), gateway)).toBe(up);
});
