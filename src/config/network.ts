// The sections of config.yaml about what listens and who may be reached: http, mqtt, mcp, security.
import { z } from 'zod';
import { count, duration, flag, host, path, port, secret } from './fields.ts';

const tlsFiles = {
  cert_file: path('Certificate with its chain, PEM', 'tls/fullchain.pem'),
  key_file: path('Private key, PEM', 'tls/privkey.pem'),
};

/** `http`: MCP, REST, webhooks, status, metrics and the page. */
export const Http = z
  .strictObject({
    host: host('Address to listen on; while there is no user it is loopback, whatever stands here'),
    port: port(8480, 'Port of MCP, REST, webhooks and the page; 0 takes a free one'),
    public_url: z
      .url({ protocol: /^https?$/ })
      .meta({
        description: 'Where others reach it, for instance behind a proxy; every request then counts as remote',
        examples: ['https://causeway.example.org'],
      })
      .optional(),
    allowed_hosts: z
      .array(z.string().min(1))
      .meta({
        description:
          'Further names in the Host header that are answered, beside localhost, the addresses and public_url',
      })
      .default([]),
    tls: z.strictObject(tlsFiles).meta({ description: 'Serves HTTPS with this certificate' }).optional(),
  })
  .meta({ description: 'The web side: MCP at /mcp, REST at /api, webhooks at /hooks, the page at /' });

const Limits = z
  .strictObject({
    packet_kilobytes: count(1, 65_536, 256, 'Largest packet of a client'),
    clients: count(1, 10_000, 256, 'Connected clients'),
    clients_per_address: count(1, 10_000, 32, 'Connected clients of one address'),
    pending_per_address: count(1, 1_000, 16, 'Connections of one address that have not signed in yet'),
    connect_timeout: duration('1s', '1m', '5s', 'How long a connection may take to sign in'),
    rate: count(1, 100_000, 200, 'Packets a second of one client; beyond it, it is read more slowly'),
    burst: count(1, 1_000_000, 1_000, 'Packets that one client may send at once'),
    subscriptions: count(1, 10_000, 200, 'Subscriptions of one client'),
    queued_messages: count(1, 100_000, 1_000, 'Messages kept for one client that is away'),
    sessions: count(1, 100_000, 1_000, 'Clients that are away and whose messages are kept'),
    session_expiry: duration('1h', '365d', '7d', 'How long that is done for one that does not come back'),
    retained_topics: count(1, 1_000_000, 50_000, 'Retained messages of others, in all'),
    retained_megabytes: count(1, 10_000, 64, 'Size of the retained messages of others, in all'),
    drain_timeout: duration('1s', '5m', '10s', 'How long a client that stops reading is waited for'),
    exempt_loopback: flag(true, 'Programs on this machine are not held to rate, burst and the counts per address'),
  })
  .meta({ description: 'Limits of the embedded broker' });

/** `mqtt`: the embedded broker, or the outside one that is used instead. */
export const Mqtt = z
  .strictObject({
    mode: z
      .enum(['embedded', 'external'])
      .meta({ description: 'embedded: a broker of our own on host and port; external: the broker at url' })
      .default('embedded'),
    root: z
      .string()
      .regex(/^[^+#/\s$][^+#/\s]*$/, 'expected one topic level: no / + # or blanks, no $ in front')
      .meta({ description: 'First level of all topics of ours' })
      .default('causeway'),
    host: host('Address the embedded broker listens on; while there is no user it is loopback'),
    port: port(1883, 'Port of the embedded broker; 0 takes a free one'),
    tls: z
      .strictObject({
        ...tlsFiles,
        port: port(8883, 'Port for MQTT over TLS'),
        ca_file: path(
          'Certificates are asked of clients and checked with this authority, PEM',
          'tls/ca.pem',
        ).optional(),
      })
      .meta({ description: 'The embedded broker also listens with TLS; plain MQTT is then for loopback only' })
      .optional(),
    url: z
      .url({ protocol: /^(mqtts?|wss?)$/, error: 'expected mqtt://, mqtts://, ws:// or wss:// and a host' })
      .meta({ description: 'The outside broker', examples: ['mqtts://broker.lan:8883'] })
      .optional(),
    username: z
      .string()
      .min(1)
      .meta({ description: 'User at the outside broker', examples: ['causeway'] })
      .optional(),
    password: secret('Password at the outside broker', '!secret mqtt_password'),
    ca_file: path('Authority that signed the outside broker’s certificate, PEM', 'tls/ca.pem').optional(),
    limits: Limits.prefault({}),
  })
  .refine(mqtt => mqtt.mode === 'embedded' || mqtt.url !== undefined, {
    path: ['url'],
    error: 'mode external needs the url of the broker',
  })
  .meta({ description: 'The bus: an MQTT broker of our own, or another one' });

/** `mcp`: the server for AI clients. */
export const Mcp = z
  .strictObject({
    enabled: flag(true, 'Serves MCP at /mcp'),
    sessions: count(1, 10_000, 200, 'Sessions at once; the longest idle one is closed for a new one'),
    session_idle: duration('30m', '7d', '1h', 'A session without an open stream is closed after this'),
  })
  .meta({ description: 'The MCP server for AI clients' });

/** `security`: switches over all operations, and what rules may reach. */
export const Security = z
  .strictObject({
    reads: flag(true, 'Allows all operations that read'),
    writes: flag(true, 'Allows all operations that write'),
    ops: z
      .record(z.string().min(1), z.boolean())
      .meta({
        description: 'Switches single operations off, or on again where reads or writes is off',
        examples: [{ delete_rule: false }],
      })
      .default({}),
    egress: z
      .strictObject({
        allow: z
          .array(z.string().min(1))
          .meta({
            description:
              'Where the http action may go: host names, *.example.org, addresses or networks (10.0.0.0/8), each with a :port if wanted. ' +
              '* is every address but loopback, link-local and cloud metadata ones, which must be named',
          })
          .default(['*']),
      })
      .meta({ description: 'Outgoing requests of rules' })
      .prefault({}),
  })
  .meta({ description: 'What may be done at all, whoever asks' });
