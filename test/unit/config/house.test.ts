import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { houseSchema } from '../../../src/config/house.ts';
import { safetySchema } from '../../../src/config/safety.ts';
import { check } from '../../../src/lib/problems.ts';
import { Target } from '../../../src/model/target.ts';

const House = houseSchema(Target);

/** The complaints about a house, as `path: message`. */
function complaints(house: unknown): string[] {
  const checked = check(House, house);
  return checked.ok ? [] : checked.issues.map(issue => `${issue.path.join('/')}: ${issue.message}`);
}

describe('house.yaml', () => {
  test('may be empty', () => {
    expect(House.parse(undefined)).toEqual({
      aliases: {},
      variables: {},
      people: {},
      groups: {},
      rooms: {},
      periods: {},
      workdays: { extra: [], except: [] },
      scenes: {},
      notifiers: {},
    });
  });

  test('says everything that it can say', () => {
    const house = House.parse({
      aliases: { 'attic-fan': 'hubitat:42' },
      modes: { names: ['Day', 'Night'], owner: 'hubitat' },
      variables: { x: { type: 'number', initial: 1 } },
      people: { anna: { trackers: ['unifi:client:aa:bb'], away_after: '00:05:00' } },
      groups: { lights: { members: { capability: 'switch' }, attribute: 'switch', function: 'count' } },
      rooms: { kitchen: { names: ['Küche'], devices: ['attic-fan'] } },
      periods: { night: { after: '22:00', before: 'sunrise' } },
      workdays: { country: 'DE', region: 'BE', extra: ['2026-12-05'], except: ['12-24..01-01'] },
      scenes: { evening: { 'hubitat:42': { switch: 'on', level: 30 } } },
      notifiers: { phone: { type: 'ntfy', topic: 'x' } },
      default_notifier: 'phone',
    });
    expect(house.people.anna?.away_after).toBe('5m');
    expect(house.modes).toEqual({ names: ['Day', 'Night'], owner: 'hubitat' });
    expect(house.notifiers.phone).toEqual({ type: 'ntfy', topic: 'x' });
  });

  test('modes may be a list', () => {
    expect(House.parse({ modes: ['home', 'away'] }).modes).toEqual({ names: ['home', 'away'], owner: 'own' });
  });

  test('a variable has the type of its initial value unless it says so', () => {
    const variables = {
      n: { initial: 5 },
      b: { initial: true },
      s: { initial: 'x' },
      l: { initial: [1] },
      none: { type: 'number' },
    };
    expect(House.parse({ variables }).variables).toEqual({
      n: { type: 'number', initial: 5 },
      b: { type: 'boolean', initial: true },
      s: { type: 'string', initial: 'x' },
      l: { type: 'json', initial: [1] },
      none: { type: 'number', initial: null },
    });
  });

  test.each(['22:00', '22:00:30', '24:00', 'sunset', 'sunset-30m', 'dawn + 1h', 'solar_noon'])(
    '%s bounds a period',
    text => {
      expect(complaints({ periods: { p: { after: text, before: '06:00' } } })).toEqual([]);
    },
  );

  test.each(['25:00', '9', 'sunrose', 'sunset-soon', 'sunset30m', ''])('"%s" bounds none', text => {
    expect(complaints({ periods: { p: { after: text, before: '06:00' } } })).toEqual([
      'periods/p/after: expected HH:MM, HH:MM:SS, or a sun event with an offset, such as sunset-30m',
    ]);
  });

  test.each([
    [{ alias: {} }, 'alias: unknown key "alias"'],
    [{ modes: { nams: ['x'] } }, 'modes/nams: unknown key "nams"'],
    [{ modes: 5 }, 'modes: expected a list, or a map of keys and values, got 5'],
    [{ modes: ['a', 'a'] }, 'modes: a mode stands here twice'],
    [{ aliases: { 'a b': 'hubitat:1' } }, 'aliases/a b: a name has 1 to 64 characters, no blanks and none of : / + #'],
    [{ aliases: { fan: 'attic' } }, 'aliases/fan: expected a device id, such as hubitat:42'],
    [
      { variables: { x: { type: 'number', initial: 'a' } } },
      'variables/x/initial: the initial value is not of the type given',
    ],
    [{ groups: { everyone: { members: 'a', attribute: 'b' } } }, 'groups/everyone: house:everyone is built in'],
    [
      { people: { anna: {} }, groups: { anna: { members: 'a', attribute: 'b' } } },
      'groups/anna: a person is called anna too',
    ],
    [
      { workdays: { except: ['24.12.'] } },
      'workdays/except/0: expected 2026-12-24, 12-24 (each year) or a range such as 12-20..01-06',
    ],
    [
      { notifiers: { p: { type: 'ntfi' } } },
      'notifiers/p/type: expected one of ntfy, telegram, smtp, pushover, webhook, mqtt, device, got "ntfi"',
    ],
    [
      { notifiers: { phone: { type: 'ntfy' } }, default_notifier: 'phon' },
      'default_notifier: there is no notifier "phon"; did you mean "phone"?',
    ],
  ])('refuses %j', (house, message) => {
    expect(complaints(house)).toContain(message);
  });
});

describe('safety.yaml', () => {
  const Safety = safetySchema(z.strictObject({ type: z.literal('mode'), is: z.string() }), Target);

  test('may be empty', () => {
    expect(Safety.parse(undefined)).toEqual([]);
  });

  test('is a list of what must never be', () => {
    const invariant = {
      id: 'no-heat',
      never: { type: 'mode', is: 'away' },
      for: '5m',
      block: [{ device: 'heater', command: 'on' }],
    };
    expect(Safety.parse([invariant])).toEqual([{ ...invariant, description: '' }]);
  });

  test('refuses two of one id, and a condition that is none', () => {
    const invariant = { id: 'a', never: { type: 'mode', is: 'away' } };
    expect(Safety.safeParse([invariant, invariant]).error?.issues[0]?.message).toBe('an id stands here twice');
    expect(Safety.safeParse([{ id: 'a', never: { type: 'x' } }]).success).toBe(false);
  });
});
