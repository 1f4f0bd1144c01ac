// What config.yaml says of an ioBroker installation.
import { z } from 'zod';
import { duration, flag, secret } from '../../config/fields.ts';

const address = (description: string, example: string) =>
  z
    .url({ protocol: /^wss?$/, error: 'expected ws:// or wss:// with the name or address of the ioBroker machine' })
    .refine(text => isBare(text), { error: 'expected the address alone, such as ws://iobroker.lan:8084' })
    .meta({ description, examples: [example] });

// `*` is all that ioBroker knows; the other characters are those that its ids may have.
const Pattern = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[\p{L}\p{N}._\-/ :!#$%&()+=@^{}|~*]+$/u, { error: 'expected an id of ioBroker, with * for any characters' });

const patterns = (description: string, ...examples: string[]) =>
  z
    .array(Pattern)
    .max(200)
    .meta({ description, examples: [examples] });

/** `type: iobroker`. */
export const IobrokerSchema = z
  .strictObject({
    type: z.literal('iobroker'),
    url: address('The ws adapter of ioBroker (or admin, 8081, with losses)', 'ws://iobroker.lan:8084'),
    user: z
      .string()
      .min(1)
      .meta({ description: 'User of ioBroker, where the adapter wants one', examples: ['causeway'] })
      .optional(),
    password: secret('Its password', '!secret iobroker_password'),
    states: patterns(
      'Which states come in; `system.*` only where a pattern begins with it',
      'hue.0.*',
      '0_userdata.0.*',
    )
      .min(1)
      .default(['*']),
    exclude: patterns('Which of them stay out', '*.rssi').default([]),
    unowned: patterns(
      'States that no adapter confirms: what anybody writes there counts at once',
      '0_userdata.*',
    ).default([]),
    language: z
      .string()
      .regex(/^(auto|[a-z]{2}(-[a-z]{2})?)$/, { error: 'expected auto, or a language such as de or zh-cn' })
      .meta({ description: 'Language of names; auto: that of ioBroker' })
      .default('auto'),
    functional: flag(true, 'Devices that ioBroker’s type detector knows get canonical attributes beside their own'),
    confirm: duration('100ms', '25s', '5s', 'How long an adapter may take to confirm what was written'),
    timeout: duration('1s', '2m', '10s', 'How long ioBroker may take to answer'),
    logs: z
      .enum(['off', 'error', 'warn', 'info', 'debug'])
      .meta({ description: 'From which level on ioBroker’s own log is followed; wants `admin`' })
      .default('off'),
    admin: address(
      'The admin adapter, for the log and to delete objects; user and password are the same',
      'ws://iobroker.lan:8081',
    ).optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    path: ['password'],
    error: 'user and password belong together',
  })
  .meta({
    id: 'BackendIobroker',
    title: 'ioBroker',
    description: 'An ioBroker installation, through its ws adapter',
    examples: [{ type: 'iobroker', url: 'ws://iobroker.lan:8084', states: ['hue.0.*', '0_userdata.0.*'] }],
  });

/** A parsed `type: iobroker`. */
export type IobrokerConfig = z.output<typeof IobrokerSchema>;

// Credentials in an address would get into logs and errors.
function isBare(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { pathname, search, username, password } = new URL(text);
  return pathname === '/' && search === '' && username === '' && password === '';
}
