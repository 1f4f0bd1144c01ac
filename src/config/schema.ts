// config.yaml: the one source of its keys, their types, ranges, defaults and descriptions.
import { z } from 'zod';
import { count, degrees, duration, path, timezone } from './fields.ts';
import { Http, Mcp, Mqtt, Security } from './network.ts';

const Location = z
  .strictObject({
    latitude: degrees(90, 'Degrees, north positive', 52.52),
    longitude: degrees(180, 'Degrees, east positive', 13.4),
    timezone: timezone('Time zone of the house'),
  })
  .refine(place => (place.latitude === undefined) === (place.longitude === undefined), {
    error: 'latitude and longitude are given together, or neither',
  })
  .meta({
    description:
      'Where the house stands, for sunrise and sunset; taken from a backend that knows it where this is left out',
  });

const Data = z
  .strictObject({ dir: path('Folder of the databases and backups', 'data').default('data') })
  .meta({ description: 'What Causeway stores' });

const Rules = z
  .strictObject({
    dir: path('Folder of the rule files, one YAML file a rule', 'rules').default('rules'),
    authority: z
      .enum(['viewer', 'operator', 'admin'])
      .meta({ description: 'What a rule may do whose file was written by hand' })
      .default('operator'),
    traces: count(1, 1_000, 50, 'Recorded runs that are kept of each rule'),
  })
  .meta({ description: 'The rules' });

const Journal = z
  .strictObject({
    days: count(1, 3_650, 30, 'Days that are kept'),
    megabytes: count(10, 1_000_000, 1_024, 'Size beyond which the oldest days go'),
  })
  .meta({ description: 'The record of everything that happened, for history, backtests and explanations' });

const Guard = z
  .strictObject({
    runs: count(5, 200, 30, 'Runs of one rule within `per`, counting those that rules caused'),
    per: duration('10s', '5m', '1m', 'The window of `runs`'),
    device_commands: count(1, 10_000, 60, 'Commands that rules may send to one device in a minute'),
    depth: count(2, 64, 16, 'How many rules may cause each other in one chain'),
    descendants: count(10, 10_000, 200, 'Runs that one first cause may lead to'),
  })
  .meta({ description: 'Stops rules that loop or flood' });

const Level = z.enum(['debug', 'info', 'warn', 'error', 'silent']);

const Log = z
  .strictObject({
    level: Level.meta({ description: 'From which level on is logged' }).default('info'),
    areas: z
      .record(z.string().min(1), Level)
      .meta({ description: 'Another level for single areas', examples: [{ engine: 'debug' }] })
      .default({}),
  })
  .meta({ description: 'The log' });

/** What every backend of `backends` has; the rest belongs to its type. */
type AnyBackend = { type: string; [key: string]: unknown };

/** Ids of backends that are always there. */
const RESERVED = ['virtual', 'house'];

function backendsSchema(built: readonly z.ZodObject[]) {
  const [first, ...rest] = built;
  const Backend = (first ? z.discriminatedUnion('type', [first, ...rest]) : z.never()) as z.ZodType<AnyBackend>;
  const Id = z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'an id has lower-case letters, digits, - and _')
    .refine(id => !RESERVED.includes(id), { error: `the ids ${RESERVED.join(' and ')} are taken by what is built in` });
  return z
    .record(Id, Backend)
    .meta({
      description: 'The systems that are bridged, by an id of yours, which is the first part of their devices’ ids',
      examples: [{ hubitat: { type: 'hubitat', url: 'http://hub.lan', app: 12, token: '!secret hub_token' } }],
    })
    .default({});
}

/**
 * The schema of config.yaml.
 * @param backends the schemas of the types of backend that are built, each with `type` as a literal
 */
export function configSchema(backends: readonly z.ZodObject[] = []) {
  return z
    .strictObject({
      location: Location.prefault({}),
      http: Http.prefault({}),
      mqtt: Mqtt.prefault({}),
      data: Data.prefault({}),
      rules: Rules.prefault({}),
      backends: backendsSchema(backends),
      journal: Journal.prefault({}),
      guard: Guard.prefault({}),
      mcp: Mcp.prefault({}),
      security: Security.prefault({}),
      log: Log.prefault({}),
    })
    .prefault({});
}

/** What config.yaml says, with all defaults. */
export type Config = z.output<ReturnType<typeof configSchema>>;
