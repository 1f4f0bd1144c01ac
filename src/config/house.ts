// house.yaml: what a household calls its things. The model's schemas of a target is passed in, because the model stands
// above the configuration.
import { z } from 'zod';
import { Duration } from '../lib/duration.ts';
import { didYouMean } from '../lib/text.ts';
import { parseClockTime } from '../lib/time/clock-time.ts';
import { parseDateRange } from '../lib/time/day-filter.ts';
import { isSunEvent } from '../lib/time/sun-events.ts';

/** A name of the user's, free of what has a meaning in ids, topics and paths. */
const Name = z.string().regex(/^[^\s:/+#]{1,64}$/u, 'a name has 1 to 64 characters, no blanks and none of : / + #');

/** A mode may have blanks: it is no part of an id. */
const ModeName = z.string().trim().min(1).max(64);

const DeviceRef = z.string().min(1).max(512);
const DeviceId = DeviceRef.regex(/^[^:\s]+:./, 'expected a device id, such as hubitat:42');

const SUN_TIME = /^([a-z_]+?)(?:\s*[+-]\s*\S+)?$/;

/** `22:00`, `sunset`, `sunset-30m`. */
const TimeOrSun = z.string().refine(text => parseClockTime(text) !== undefined || isSunTime(text), {
  error: 'expected HH:MM, HH:MM:SS, or a sun event with an offset, such as sunset-30m',
});

function isSunTime(text: string): boolean {
  const event = SUN_TIME.exec(text)?.[1];
  if (event === undefined || !isSunEvent(event)) return false;
  const offset = text.slice(event.length).trim();
  return offset === '' || Duration.safeParse(offset.slice(1).trim()).success;
}

const DateOrRange = z.string().refine(text => parseDateRange(text) !== undefined, {
  error: 'expected 2026-12-24, 12-24 (each year) or a range such as 12-20..01-06',
});

const unique = (names: readonly string[]): boolean => new Set(names).size === names.length;
const ModeNames = z.array(ModeName).min(1).refine(unique, { error: 'a mode stands here twice' });

const Modes = z.union([
  ModeNames.transform(names => ({ names, owner: 'own' })),
  z.strictObject({ names: ModeNames, owner: Name.default('own') }),
]);

/** The modes of a house that names none. (Not a default of the schema: in a scenario, none means any.) */
export const DEFAULT_MODES = { names: ['home', 'away', 'night'], owner: 'own' } as const;

/** The types that a variable may have. */
export const VARIABLE_TYPES = ['number', 'boolean', 'string', 'json'] as const;
/** A type of `VARIABLE_TYPES`. */
export type VariableType = (typeof VARIABLE_TYPES)[number];

const Variable = z
  .strictObject({ type: z.enum(VARIABLE_TYPES).optional(), initial: z.json().default(null) })
  .transform(({ type, initial }) => ({ type: type ?? typeOf(initial), initial }))
  .refine(({ type, initial }) => initial === null || type === 'json' || type === typeOf(initial), {
    path: ['initial'],
    error: 'the initial value is not of the type given',
  });

const typeOf = (value: unknown): VariableType => VARIABLE_TYPES.find(type => type === typeof value) ?? 'json';

const Person = z.strictObject({ trackers: z.array(DeviceRef).default([]), away_after: Duration.default('5m') });

/** What a group makes of its members' values; the first is the default. */
export const GROUP_FUNCTIONS = ['any', 'all', 'count', 'min', 'max', 'average', 'sum', 'integral'] as const;

/** The types of notifier; the fields of each are the notifier's own. */
const NOTIFIER_TYPES = ['ntfy', 'telegram', 'smtp', 'pushover', 'webhook', 'mqtt', 'device'] as const;

const Room = z.strictObject({ names: z.array(z.string().min(1)).default([]), devices: z.array(DeviceRef).default([]) });
const Period = z.strictObject({ after: TimeOrSun, before: TimeOrSun });
const Workdays = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'expected a country in two capital letters, such as DE')
    .optional(),
  region: z.string().min(1).optional(),
  extra: z.array(DateOrRange).default([]).meta({ description: 'Days that are workdays all the same' }),
  except: z.array(DateOrRange).default([]).meta({ description: 'Days that are none' }),
});
const Scene = z.record(DeviceRef, z.record(z.string().min(1), z.json()));
const Notifier = z.looseObject({ type: z.enum(NOTIFIER_TYPES) });

// Devices of the backend `house` that people and groups may not be named after.
const TAKEN = ['anyone', 'everyone', 'notify'];

/**
 * The schema of house.yaml, and of `house:` in a scenario.
 * @param target the model's schema of a target (ids, aliases, lists, selectors)
 */
export function houseSchema<T extends z.ZodType>(target: T) {
  const Group = z.strictObject({
    members: target,
    attribute: z.string().min(1),
    function: z.enum(GROUP_FUNCTIONS).default('any'),
  });
  return z
    .strictObject({
      aliases: z
        .record(Name, DeviceId)
        .meta({
          description: 'Names for devices; a rule that uses one survives the replacement of the device',
          examples: [{ 'attic-fan': 'hubitat:42' }],
        })
        .default({}),
      modes: Modes.meta({
        description:
          'Modes of the house, the first one at the very start (home, away, night unless given); { names, owner } where a backend keeps them',
        examples: [['home', 'away', 'night'], { names: ['Day', 'Night'], owner: 'hubitat' }],
      }).optional(),
      variables: z
        .record(Name, Variable)
        .meta({
          description: `Values that rules share; type is ${VARIABLE_TYPES.join(', ')} (that of initial unless given)`,
          examples: [{ setpoint: { type: 'number', initial: 21 } }],
        })
        .default({}),
      people: z
        .record(Name, Person)
        .meta({
          description:
            'house:anna is present while one of her trackers is, and for away_after longer; house:anyone, house:everyone',
          examples: [{ anna: { trackers: ['unifi:client:aa:bb:cc:dd:ee:ff', 'hubitat:7'], away_after: '5m' } }],
        })
        .default({}),
      groups: z
        .record(Name, Group)
        .meta({
          description: `house:lights is what a function makes of its members: ${GROUP_FUNCTIONS.join(', ')}`,
          examples: [
            { lights: { members: { capability: 'switch', room: 'kitchen' }, attribute: 'switch', function: 'any' } },
          ],
        })
        .default({}),
      rooms: z
        .record(Name, Room)
        .meta({
          description: 'One room out of the names that the systems have for it',
          examples: [{ kitchen: { names: ['Küche', 'Kitchen'], devices: ['hubitat:42'] } }],
        })
        .default({}),
      periods: z
        .record(Name, Period)
        .meta({
          description: 'Spans of the day that time conditions name, by the clock or by the sun',
          examples: [{ night: { after: '22:00', before: 'sunrise' } }],
        })
        .default({}),
      workdays: Workdays.meta({
        description:
          'Which days are workdays: Monday to Friday but public holidays and `except`, and the days of `extra`',
        examples: [{ country: 'DE', region: 'BE', extra: [], except: ['12-24', '12-31'] }],
      }).prefault({}),
      scenes: z
        .record(Name, Scene)
        .meta({
          description: 'Values that a scene action applies at once',
          examples: [{ evening: { 'hubitat:42': { switch: 'on', level: 30 } } }],
        })
        .default({}),
      notifiers: z
        .record(Name, Notifier)
        .meta({
          description: `Ways to tell you something: ${NOTIFIER_TYPES.join(', ')}`,
          examples: [{ phone: { type: 'ntfy', url: 'https://ntfy.sh', topic: '!secret ntfy_topic' } }],
        })
        .default({}),
      default_notifier: Name.meta({
        description: 'The notifier of a notify action that names none',
        examples: ['phone'],
      }).optional(),
    })
    .superRefine((house, context) => {
      for (const kind of ['people', 'groups'] as const) {
        for (const name of Object.keys(house[kind])) {
          if (TAKEN.includes(name))
            context.addIssue({ code: 'custom', path: [kind, name], message: `house:${name} is built in` });
        }
      }
      for (const name of Object.keys(house.groups)) {
        if (!Object.hasOwn(house.people, name)) continue;
        context.addIssue({ code: 'custom', path: ['groups', name], message: `a person is called ${name} too` });
      }
      const { default_notifier: chosen, notifiers } = house;
      if (chosen === undefined || Object.hasOwn(notifiers, chosen)) return;
      const hint = didYouMean(chosen, Object.keys(notifiers));
      context.addIssue({
        code: 'custom',
        path: ['default_notifier'],
        message: `there is no notifier "${chosen}"; ${hint}`,
      });
    })
    .prefault({});
}

/** What house.yaml says, with all defaults. `T` is the schema of a target. */
export type House<T extends z.ZodType = z.ZodType> = z.output<ReturnType<typeof houseSchema<T>>>;
