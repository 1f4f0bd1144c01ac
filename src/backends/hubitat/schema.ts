// What config.yaml says of a Hubitat hub.
import { z } from 'zod';
import { duration, port, secret } from '../../config/fields.ts';

const Listen = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'Address to listen on for the hub’s events' })
      .default('0.0.0.0'),
    port: port(8481, 'Port to listen on for the hub’s events; each hub needs one of its own'),
    url: z
      .url({ protocol: /^http$/ })
      .meta({
        description: 'How the hub reaches that port, where it is not this machine’s own address (a container)',
        examples: ['http://192.168.1.20:8481'],
      })
      .optional(),
  })
  .meta({ description: 'Where the Maker API sends its events' });

const Login = z
  .strictObject({
    username: z
      .string()
      .min(1)
      .meta({ description: 'User of the hub', examples: ['causeway'] }),
    password: secret('Password of the hub', '!secret hub_password').unwrap(),
  })
  .meta({ description: 'For hubs with login security; the Maker API itself needs none' });

/** `type: hubitat`. */
export const HubitatSchema = z
  .strictObject({
    type: z.literal('hubitat'),
    url: z
      .url({ protocol: /^https?$/, error: 'expected http:// and the hub’s name or address' })
      .refine(text => isBare(text), { error: 'expected the hub’s address alone, such as http://hub.lan' })
      .meta({ description: 'The hub on the local network', examples: ['http://hub.lan'] }),
    app: z
      .int()
      .positive()
      .meta({ description: 'Number of the Maker API app: /apps/api/<this>/ in its addresses', examples: [12] }),
    token: secret('Access token of the Maker API app', '!secret hub_token').unwrap(),
    events: z
      .enum(['auto', 'listener', 'eventsocket'])
      .meta({
        description:
          'listener: the Maker API posts to `listen`; eventsocket: we connect to the hub’s own stream; auto: the ' +
          'listener, unless the gateway is on loopback only',
      })
      .default('auto'),
    listen: Listen.prefault({}),
    poll: duration('30s', '1d', '5m', 'How often all values are compared with the hub’s, to find what was missed'),
    logs: z
      .enum(['off', 'error', 'warn', 'info', 'debug', 'trace'])
      .meta({ description: 'From which level on the hub’s own log is followed' })
      .default('off'),
    runmethod: z
      .enum(['auto', 'never'])
      .meta({ description: 'auto: arguments go typed, the hub’s internal way, where it allows that' })
      .default('auto'),
    login: Login.optional(),
    temperature_scale: z
      .enum(['auto', 'C', 'F'])
      .meta({ description: 'The scale that the hub reports in; auto: from the units that it tells' })
      .default('auto'),
  })
  .meta({
    id: 'BackendHubitat',
    title: 'Hubitat',
    description: 'A Hubitat hub, through its Maker API',
    examples: [{ type: 'hubitat', url: 'http://hub.lan', app: 12, token: '!secret hub_token' }],
  });

/** A parsed `type: hubitat`. */
export type HubitatConfig = z.output<typeof HubitatSchema>;

// A pasted address of the Maker API would carry the token into logs and errors.
function isBare(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { pathname, search, username, password } = new URL(text);
  return pathname === '/' && search === '' && username === '' && password === '';
}
