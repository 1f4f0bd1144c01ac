// The scenario file: the one schema for the test suite, `causeway simulate`, the `tests:` of a rule, and MCP.
import { z } from 'zod';
import { houseSchema } from '../config/house.ts';
import { parseDuration } from '../lib/duration.ts';
import { ERROR_CODES, type ErrorCode } from '../lib/errors.ts';
import { parseDate } from '../lib/time/calendar.ts';
import { parseStamp } from '../lib/time/clock-time.ts';
import { isZone } from '../lib/time/offsets.ts';
import { CapabilitySchema, DeviceRef } from '../model/device.ts';
import { Target } from '../model/target.ts';
import { Expect } from './scenario-expect.ts';
import { Time } from './scenario-time.ts';

const Zone = z.string().refine(isZone, 'no such time zone; write an IANA name such as Europe/Berlin');
const RuleRef = z.string().min(1);
const Devices = z.union([z.array(DeviceRef).min(1), DeviceRef.transform(ref => [ref])]);

/** A duration ≥ 0 in milliseconds; a bare 0 is one too. */
const Milliseconds = z.union([z.literal(0), z.string()]).transform((text, context) => {
  const ms = text === 0 ? 0 : parseDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  context.addIssue({ code: 'custom', message: `"${text}" is no duration; write 250ms, 5m, 1d2h` });
  return z.NEVER;
});

const SignedMilliseconds = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: `"${text}" is no duration; write -1h, 61m10s` });
  return z.NEVER;
});

// --- what there is ---------------------------------------------------------------------------------------------------

const ValueDecl = z.strictObject({
  type: z.enum(['number', 'enum', 'boolean', 'string', 'json']),
  values: z.array(z.string()).min(1).optional(),
  unit: z.string().optional(),
  step: z.number().positive().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
});
const AttributeDecl = z.strictObject({
  ...ValueDecl.shape,
  momentary: z.boolean().optional(),
  telemetry: z.boolean().optional(),
});
const CommandDecl = z.strictObject({
  args: z
    .array(z.strictObject({ ...ValueDecl.shape, name: z.string().min(1), optional: z.boolean().optional() }))
    .default([]),
  effects: z
    .array(
      z.union([
        z.strictObject({ attribute: z.string().min(1), value: z.json() }),
        z.strictObject({ attribute: z.string().min(1), fromArg: z.string().min(1) }),
        z.strictObject({ attribute: z.string().min(1), unknown: z.literal(true) }),
      ]),
    )
    .default([]),
  idempotent: z.boolean().default(true),
  opposes: z.string().optional(),
  always: z.boolean().optional(),
});
const Device = z.strictObject({
  label: z.string().min(1).optional(),
  name: z.string().min(1).optional(),
  room: z.string().min(1).optional(),
  capabilities: z.array(CapabilitySchema).default([]),
  attributes: z.record(z.string(), AttributeDecl).default({}),
  commands: z.record(z.string(), CommandDecl).default({}),
  echo: z
    .union([z.literal('none'), z.strictObject({ after: Milliseconds })])
    .default({ after: 50 })
    .meta({ description: 'When the effects of a command come back: none, or after so long (50ms)' }),
});

/** What a device is in the scenario. */
export type ScenarioDevice = z.output<typeof Device>;

const Start = z.string().transform((text, context): { wall: number } | { instant: number } => {
  const stamp = parseStamp(text);
  if (stamp) return stamp;
  const day = parseDate(text);
  if (day !== undefined) return { wall: day * 86_400_000 };
  context.addIssue({
    code: 'custom',
    message: `"${text}" is no stamp; write 2026-03-28T22:00:00, or with Z at its end`,
  });
  return z.NEVER;
});

const Known = z.record(z.string(), z.json());
const Given = z
  .object({
    mode: z.string().min(1).optional(),
    variables: Known.optional(),
    retained: Known.optional(),
  })
  .catchall(z.record(z.string(), z.json()))
  .transform(({ mode, variables, retained, ...devices }) => ({
    mode,
    variables: variables ?? {},
    retained: retained ?? {},
    devices: devices as Record<string, Record<string, z.core.util.JSONType>>,
  }));

// --- what happens ------------------------------------------------------------------------------------------------------

const ErrorName = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);
const Client = z.enum(['user', 'mqtt', 'device', 'system']);

/** What an entry of the timeline may do: one of these keys. */
const entries = {
  set: z.record(DeviceRef, z.record(z.string(), z.unknown())),
  event: z.strictObject({
    device: DeviceRef,
    name: z.string().min(1),
    value: z.unknown(),
    id: z.string().optional(),
    sourceTime: z.string().optional(),
  }),
  report: z.strictObject({
    device: DeviceRef,
    attribute: z.string().min(1),
    value: z.unknown(),
    seq: z.number().optional(),
    sourceTime: z.string().optional(),
    id: z.string().optional(),
    quality: z.enum(['good', 'unknown', 'unavailable']).optional(),
    by: z.enum(['device', 'user']).optional(),
  }),
  unavailable: Devices,
  available: Devices,
  mqtt: z.strictObject({
    topic: z.string().min(1),
    payload: z.json().default(''),
    retain: z.boolean().default(false),
    qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).optional(),
    client: z.string().min(1).default('outside'),
  }),
  mode: z.string().min(1),
  variable: z.strictObject({ name: z.string().min(1), value: z.json() }),
  webhook: z.strictObject({
    id: z.string().min(1),
    body: z.json().default(null),
    query: z.record(z.string(), z.json()).default({}),
    method: z.enum(['GET', 'POST', 'PUT']).default('POST'),
  }),
  flow: z.looseObject({ site: z.string().default('default') }),
  command: z.strictObject({
    device: DeviceRef,
    command: z.string().min(1),
    args: z.union([z.record(z.string(), z.json()), z.array(z.json())]).optional(),
    by: Client.default('user'),
  }),
  stop: z.union([z.literal(true), z.literal('power')]),
  start: z.union([z.literal(true), z.strictObject({ ready: Milliseconds.default(0) })]),
  save: z.record(z.string(), z.unknown()),
  patch: z.looseObject({ id: RuleRef }),
  enable: RuleRef,
  disable: RuleRef,
  resume: RuleRef,
  delete: RuleRef,
  run: z.union([
    RuleRef.transform(rule => ({ rule, args: {} as Record<string, z.core.util.JSONType> })),
    z.strictObject({ rule: RuleRef, args: z.record(z.string(), z.json()).default({}) }),
  ]),
  panic: z.boolean(),
  rename: z.strictObject({ id: DeviceRef, label: z.string().min(1) }),
  remove: Devices,
  replace: z.strictObject({ old: DeviceRef, new: DeviceRef }),
  clock: SignedMilliseconds,
  timezone: Zone,
  fail: z
    .strictObject({
      device: DeviceRef,
      error: ErrorName.optional(),
      hang: z.literal(true).optional(),
      answerAfter: Milliseconds.optional(),
      until: Time.optional(),
    })
    .refine(fail => [fail.error, fail.hang, fail.answerAfter].filter(way => way !== undefined).length === 1, {
      message: 'give one of error, hang, answerAfter',
      path: ['error'],
    }),
  answer: z.strictObject({ tag: z.string().optional(), value: z.json() }),
  http: z.strictObject({
    url: z.string().min(1),
    status: z.int().min(100).max(599).default(200),
    headers: z.record(z.string(), z.string()).default({}),
    body: z.json().default(''),
  }),
} as const;

/** The names of what an entry may do. */
export type EntryKind = keyof typeof entries;
export const ENTRY_KINDS = Object.keys(entries) as EntryKind[];

const optionals = Object.fromEntries(
  Object.entries(entries).map(([key, schema]) => [key, (schema as z.ZodType).optional()]),
) as { [K in EntryKind]: z.ZodOptional<(typeof entries)[K]> };

const Entry = z
  .strictObject({
    at: Time,
    every: Milliseconds.optional(),
    times: z.int().min(1).max(1_000_000).optional(),
    ...optionals,
  })
  .superRefine((entry, context) => {
    const given = ENTRY_KINDS.filter(kind => entry[kind] !== undefined);
    if (given.length !== 1) {
      const message =
        given.length === 0
          ? `an entry does one of ${ENTRY_KINDS.join(', ')}`
          : `an entry does one thing; write one for each of ${given.join(', ')}`;
      context.addIssue({ code: 'custom', message });
    }
    if ((entry.every === undefined) !== (entry.times === undefined)) {
      const missing = entry.every === undefined ? 'every' : 'times';
      context.addIssue({ code: 'custom', path: [missing], message: 'every and times go together' });
    }
  });

/** An entry of the timeline. */
export type Entry = z.output<typeof Entry>;

/** The schema of a scenario. */
export const Scenario = z
  .strictObject({
    name: z.string().optional(),
    description: z.string().optional(),
    location: z
      .strictObject({
        latitude: z.number().min(-90).max(90).optional(),
        longitude: z.number().min(-180).max(180).optional(),
        timezone: Zone.optional(),
      })
      .optional(),
    start: Start.optional(),
    house: houseSchema(Target),
    devices: z.record(DeviceRef, Device).default({}),
    given: Given.prefault({}),
    rules: z.array(z.record(z.string(), z.unknown())).default([]),
    files: z
      .array(z.string().min(1))
      .default([])
      .meta({ description: 'Rule files, from the folder of the scenario; for `causeway simulate` alone' }),
    timeline: z.array(Entry).default([]),
    until: Time.optional(),
    expect: z.array(Expect),
  })
  .meta({ id: 'Scenario', title: 'Scenario', description: 'What is given, what happens when, and what is expected' });

/** A scenario that was read. */
export type Scenario = z.output<typeof Scenario>;

/** A scenario as one of the `tests:` of a rule. */
export const RuleTest = Scenario.omit({ rules: true, files: true }).meta({ id: 'RuleTest', title: 'Test of a rule' });
