import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { HubitatSchema } from '../../../../src/backends/hubitat/index.ts';
import { backendKinds } from '../../../../src/backends/index.ts';
import { configSchema } from '../../../../src/config/schema.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { silentLog } from '../../../../src/lib/log.ts';

const hub = { type: 'hubitat', url: 'http://hub.lan', app: 12, token: 'very-secret' };

describe('the configuration of a hub', () => {
  test('has defaults for all but its address, app and token', () => {
    expect(HubitatSchema.parse(hub)).toMatchObject({
      events: 'auto',
      listen: { host: '0.0.0.0', port: 8481 },
      poll: '5m',
      logs: 'off',
      runmethod: 'auto',
      temperature_scale: 'auto',
    });
  });

  test.each([
    'http://hub.lan/apps/api/12/devices/all?access_token=very-secret',
    'http://user:password@hub.lan',
    'ftp://hub.lan',
    'hub.lan',
  ])('refuses the address %s', url => {
    const { error } = HubitatSchema.safeParse({ ...hub, url });
    expect(error?.issues.map(({ path }) => path)).toContainEqual(['url']);
    expect(error?.issues.map(({ message }) => message).join()).toMatch(/expected (http|the hub)/);
  });

  test('does not show its token', () => {
    const config = HubitatSchema.parse({ ...hub, login: { username: 'a', password: 'also-secret' } });
    expect(`${inspect(config, { depth: 5 })}${JSON.stringify(config)}`).not.toContain('secret');
  });

  test('stands in config.yaml, and makes a backend of the id given there', () => {
    const schemas = backendKinds.kinds.map(kind => kind.schema);
    const { backends } = configSchema(schemas).parse({ backends: { cottage: hub } });
    const config = backends.cottage as { type: string };
    const parts = { id: 'cottage', clock: systemClock, log: silentLog, isLoopbackOnly: true };
    expect(backendKinds.get(config.type).create(config, parts)).toMatchObject({ id: 'cottage', kind: 'hubitat' });
    expect(configSchema(schemas).safeParse({ backends: { cottage: { ...hub, tokn: 1 } } }).success).toBe(false);
  });

  test('has an example for each type of backend that is accepted', () => {
    for (const { schema } of backendKinds.kinds) {
      const examples = (schema.meta()?.examples ?? []) as unknown[];
      expect(examples.map(example => schema.safeParse(example).success)).toEqual([true]);
    }
  });
});
