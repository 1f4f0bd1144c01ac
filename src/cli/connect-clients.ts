// What each client wants to be told. Shapes and paths: VS Code's MCP configuration reference; for the others published
// setup guides of 2026. None of them was tried with the client itself.
import { join } from 'node:path';
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';

/** The gateway and the machine, as a client must know them. */
export interface Connection {
  readonly url: string;
  readonly token: string | undefined;
  /** The causeway command, and the Node that runs it. */
  readonly bin: string;
  readonly node: string;
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly mqtt: { readonly host: string; readonly port: number; readonly user: string | undefined };
}

/** What is printed, and what --write would write. */
export interface Snippet {
  readonly client: string;
  readonly text: string;
  readonly file?: { readonly path: string; readonly content: Record<string, Record<string, unknown>> };
}

type Describe = (connection: Connection) => Omit<Snippet, 'client'>;

const endpoint = ({ url }: Connection) => `${url}/mcp`;
const bearer = ({ token }: Connection) => (token ? { Authorization: `Bearer ${token}` } : undefined);
const withHeaders = (connection: Connection) => {
  const headers = bearer(connection);
  return headers ? { headers } : {};
};
const json = (value: unknown) => JSON.stringify(value, null, 2);
/** For a POSIX shell. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
const inFile = (path: string, content: Record<string, Record<string, unknown>>) => ({
  text: `Into ${path}:\n\n${json(content)}`,
  file: { path, content },
});

const claudeCode: Describe = connection => {
  const header = connection.token ? ` --header ${quoted(`Authorization: Bearer ${connection.token}`)}` : '';
  const command = `claude mcp add --transport http causeway ${quoted(endpoint(connection))}${header}`;
  const content = { mcpServers: { causeway: { type: 'http', url: endpoint(connection), ...withHeaders(connection) } } };
  return { text: command, file: { path: join(connection.cwd, '.mcp.json'), content } };
};

/** Claude Desktop starts a process; its own remote connectors come from the cloud and need a public HTTPS address. */
const claudeDesktop: Describe = connection => {
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join(connection.home, 'Library/Application Support/Claude'),
    win32: join(connection.home, 'AppData/Roaming/Claude'),
  };
  const folder = folders[connection.platform] ?? join(connection.home, '.config/Claude');
  const env = { CAUSEWAY_URL: connection.url, ...(connection.token && { CAUSEWAY_TOKEN: connection.token }) };
  const causeway = { command: connection.node, args: [connection.bin, 'mcp'], env };
  return inFile(join(folder, 'claude_desktop_config.json'), { mcpServers: { causeway } });
};

const vscode: Describe = connection =>
  inFile(join(connection.cwd, '.vscode/mcp.json'), {
    servers: { causeway: { type: 'http', url: endpoint(connection), ...withHeaders(connection) } },
  });

const cursor: Describe = connection =>
  inFile(join(connection.home, '.cursor/mcp.json'), {
    mcpServers: { causeway: { url: endpoint(connection), ...withHeaders(connection) } },
  });

const inspector: Describe = connection => {
  const header = connection.token ? ` --header ${quoted(`Authorization: Bearer ${connection.token}`)}` : '';
  const base = `npx @modelcontextprotocol/inspector --cli ${quoted(endpoint(connection))} --transport http`;
  return { text: [`${base} --method tools/list${header}`, `${base} --method resources/list${header}`].join('\n') };
};

const nodeRed: Describe = ({ mqtt, token }) => {
  const broker = {
    id: 'causeway-broker',
    type: 'mqtt-broker',
    name: 'Causeway',
    broker: mqtt.host,
    port: String(mqtt.port),
    protocolVersion: '4',
  };
  const flow = [
    { id: 'causeway-tab', type: 'tab', label: 'Causeway' },
    broker,
    {
      id: 'causeway-in',
      type: 'mqtt in',
      z: 'causeway-tab',
      name: 'all events',
      topic: 'causeway/event/#',
      qos: '0',
      datatype: 'json',
      broker: broker.id,
      x: 120,
      y: 80,
      wires: [['causeway-debug']],
    },
    {
      id: 'causeway-debug',
      type: 'debug',
      z: 'causeway-tab',
      name: 'events',
      active: true,
      complete: 'payload',
      x: 320,
      y: 80,
      wires: [],
    },
  ];
  const login = token ? '\n\nThen open the broker "Causeway" and enter your user and password under Security.' : '';
  return { text: `In Node-RED: menu, Import, paste this, then Deploy:\n\n${JSON.stringify(flow)}${login}` };
};

const mosquitto: Describe = ({ mqtt, token }) => {
  const user = mqtt.user ?? 'USER';
  const login = token || mqtt.user ? ` -u ${quoted(user)} -P PASSWORD` : '';
  const at = `-h ${quoted(mqtt.host)} -p ${mqtt.port}${login}`;
  return {
    text: [
      `mosquitto_sub ${at} -v -t 'causeway/event/#'`,
      `mosquitto_pub ${at} -t 'causeway/device/BACKEND/DEVICE/set' -m '{"switch":"on"}'`,
    ].join('\n'),
  };
};

/** The clients that are known. */
export const CLIENTS = {
  'claude-code': claudeCode,
  'claude-desktop': claudeDesktop,
  vscode,
  cursor,
  inspector,
  'node-red': nodeRed,
  mosquitto,
} as const satisfies Record<string, Describe>;

/** A name of `CLIENTS`. */
export type ClientName = keyof typeof CLIENTS;

/** @throws CausewayError INPUT_INVALID with the nearest name */
export function snippetFor(client: ClientName, connection: Connection): Snippet {
  if (Object.hasOwn(CLIENTS, client)) return { client, ...CLIENTS[client](connection) };
  throw new CausewayError('INPUT_INVALID', `"${client}" is no client that is known here`, {
    hint: didYouMean(client, Object.keys(CLIENTS)),
  });
}
