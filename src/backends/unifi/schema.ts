// What config.yaml says of a UniFi console.
import { z } from 'zod';
import { duration, path, secret } from '../../config/fields.ts';

const Login = z
  .strictObject({
    username: z
      .string()
      .min(1)
      .meta({ description: 'A local admin of the console, without two-factor login', examples: ['causeway'] }),
    password: secret('Password of the admin', '!secret console_password').unwrap(),
  })
  .meta({ description: 'Signs in with a cookie. The stream of events takes nothing else on most consoles' });

const HEX_PAIRS = /^(?:sha256[:/ ])?(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}$/i;

const Tls = z
  .strictObject({
    ca_file: path('The authority, or the console’s own certificate, PEM', 'tls/console.pem').optional(),
    server_name: z
      .string()
      .min(1)
      .max(255)
      .meta({ description: 'The name in the certificate, where it is not that of url', examples: ['unifi.local'] })
      .optional(),
    fingerprint: z
      .string()
      .regex(HEX_PAIRS, 'expected the SHA-256 fingerprint of the certificate: 32 pairs of hex digits')
      .meta({
        description: 'SHA-256 fingerprint of the console’s certificate: this one and no other, whoever signed it',
        examples: ['AB:CD:…'],
      })
      .optional(),
    insecure: z
      .boolean()
      .meta({ description: 'Takes any certificate: whoever is between can read and change everything' })
      .default(false),
  })
  .refine(tls => !tls.insecure || (tls.fingerprint === undefined && tls.ca_file === undefined), {
    path: ['insecure'],
    error: 'insecure says that nothing is checked: leave ca_file and fingerprint out, or insecure',
  })
  .meta({ description: 'How the console’s certificate is checked; consoles sign theirs themselves' });

const Webhook = z
  .strictObject({
    secret: secret('Key of signed calls to /hooks/<backend>/signed', '!secret console_hook_key'),
    path: secret(
      'Secret last part of the address that the Alarm Manager calls, /hooks/<backend>/<path>',
      '!secret console_hook_path',
    )
      .unwrap()
      .refine(path => /^[\w-]{16,128}$/.test(path.reveal()), {
        error: 'expected 16 to 128 letters, digits, _ and -, which nobody can guess',
      })
      .optional(),
  })
  .refine(webhook => webhook.secret !== undefined || webhook.path !== undefined, {
    error: 'give path for the Alarm Manager, secret for calls that are signed, or both',
  })
  .meta({ description: 'Lets the console, or somebody on its behalf, tell of what happens' });

const Mac = z
  .string()
  .regex(/^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i, 'expected a MAC such as 00:00:5e:00:53:01')
  .transform(text => text.toLowerCase().replaceAll('-', ':'));

/** `type: unifi`. */
export const UnifiSchema = z
  .strictObject({
    type: z.literal('unifi'),
    url: z
      .url({ protocol: /^https$/, error: 'expected https:// and the console’s name or address' })
      .refine(text => isBare(text), { error: 'expected the console’s address alone, such as https://192.168.1.1' })
      .meta({ description: 'The console on the local network', examples: ['https://192.168.1.1'] }),
    site: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'expected the short name of a site, as in the addresses of its pages')
      .meta({ description: 'Short name of the site; another site is another backend' })
      .default('default'),
    api_key: secret('API key of the console', '!secret console_key'),
    login: Login.optional(),
    tls: Tls.prefault({}),
    poll: duration('10s', '10m', '30s', 'How often clients, devices and WANs are compared with the console’s'),
    away_after: duration('30s', '1d', '5m', 'How long a client must not have been seen to count as not present'),
    known_for: duration(
      '1h',
      '365d',
      '30d',
      'How long a client without a name stays a device after it was seen last; one with a name stays',
    ),
    flows: z
      .enum(['off', 'blocked', 'risky', 'all'])
      .meta({
        description: 'Which traffic flows are told: none, those that were blocked, those also that are a risk, or all',
      })
      .default('off'),
    webhook: Webhook.optional(),
    protected: z
      .array(Mac)
      .meta({
        description:
          'Clients that are never blocked nor cut off, beside this machine itself, which is found by its own addresses',
        examples: [['00:00:5e:00:53:08']],
      })
      .default([]),
  })
  .refine(config => config.api_key !== undefined || config.login !== undefined, {
    error: 'give api_key, login, or both: with a key alone, events come late on most consoles',
  })
  .meta({
    id: 'BackendUnifi',
    title: 'UniFi',
    description: 'The Network application of a UniFi console',
    examples: [{ type: 'unifi', url: 'https://192.168.1.1', api_key: '!secret console_key' }],
  });

/** A parsed `type: unifi`. */
export type UnifiConfig = z.output<typeof UnifiSchema>;

// A pasted address of a page would be taken for a path below which the API is.
function isBare(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { pathname, search, username, password } = new URL(text);
  return pathname === '/' && search === '' && username === '' && password === '';
}
