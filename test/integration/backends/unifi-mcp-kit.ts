// A whole gateway with one or several simulated consoles, and an MCP client at it. Whatever is answered is looked at here as
// well: text and structured content are the same, the declared schema fits, an error says what to do next, and nothing of it
// is secret.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { startApp } from '../../../src/app.ts';
import { backendSchemas } from '../../../src/backends/index.ts';
import { houseSchema } from '../../../src/config/house.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Target } from '../../../src/model/target.ts';
import { eventually } from '../../kit/eventually.ts';
import { connectV2 } from '../../kit/mcp-clients.ts';
import { type ConsoleOptions, type ConsoleSimulator, certificate, startConsole } from '../../simulators/unifi/index.ts';
import { jumpingClock } from './clock.ts';
import { quiet } from './unifi-kit.ts';

/** A console and what config.yaml says of it beside url, login and tls. */
interface ConsoleWanted extends ConsoleOptions {
  readonly settings?: object;
  readonly prepare?: (console: ConsoleSimulator) => void;
}

/** What stands in an error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly hint?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what operations answer is for the tests to look into
type Answer = any;

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: Answer;
}

/** An operation as describe_tool shows it. */
interface Described {
  readonly call_with: string;
  readonly input_schema: { readonly properties: Record<string, unknown> };
  readonly output_schema: Record<string, unknown>;
}

const { fingerprint256 } = new X509Certificate(certificate.cert);
/** What the simulated consoles keep secret, and how they call such things. */
const SECRET = /never-to-be-seen|simulated-(?:key|password)|"(?:x_\w+|sso_app_sec|syslog_key)"/;
/** So long that the console may be asked for another answer, whatever that takes. */
const CALM_MS = 10_000;

/** Starts all of it, and waits until the consoles are bridged. @param house of house.yaml @param further backends of config.yaml */
export async function stageMcp(
  wanted: Readonly<Record<string, ConsoleWanted>>,
  house: object = {},
  further: Readonly<Record<string, object>> = {},
) {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const clock = jumpingClock();
  const dir = mkdtempSync(join(tmpdir(), 'causeway-mcp-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const consoles = new Map<string, ConsoleSimulator>();
  const backends: Record<string, object> = { ...further };
  for (const [id, { settings, prepare, ...simulated }] of Object.entries(wanted)) {
    const console = await startConsole({ now: () => clock.now(), ...simulated });
    ends.push(() => console.stop());
    prepare?.(console);
    consoles.set(id, console);
    backends[id] = {
      type: 'unifi',
      url: console.url,
      login: { username: 'causeway', password: console.password },
      tls: { fingerprint: fingerprint256 },
      ...settings,
    };
  }
  const file = join(dir, 'config.yaml');
  writeFileSync(file, stringify({ http: { port: 0 }, mqtt: { port: 0 }, backends }));
  const { config } = loadConfig({ file, dir, environment: {}, backends: backendSchemas });
  const app = await startApp({
    version: '0.0.0',
    config,
    house: houseSchema(Target).parse(house),
    clock,
    log: silentLog,
    isDemo: false,
    mayMove: false,
  });
  ends.push(() => app.stop());
  const all = [...consoles.values()];
  const isReady = (id: string) => app.gateway.engine.core.devices.backend(id)?.ready === true;
  await eventually(() => [...consoles].every(([id, { sockets }]) => sockets === 1 && isReady(id)), 'the consoles');
  const { client, updates } = await connectV2(app.addresses.http, 'modern');
  ends.push(() => client.close());

  const descriptions = new Map<string, Described>();
  const tool = async (name: string, args: object): Promise<ToolResult> => {
    const result = (await client.callTool({ name, arguments: { ...args } })) as unknown as ToolResult;
    expect(JSON.parse(result.content[0]?.text ?? ''), 'the text').toEqual(result.structuredContent);
    expect(JSON.stringify(result), 'the answer').not.toMatch(SECRET);
    return result;
  };
  const describeTool = async (name: string): Promise<Described> => {
    const known = descriptions.get(name) ?? (await tool('describe_tool', { name })).structuredContent;
    descriptions.set(name, known);
    return known;
  };
  const call = async (name: string, args: object): Promise<ToolResult> => {
    const { call_with: by } = await describeTool(name);
    return by === name ? tool(name, args) : tool(by, { name, arguments: args });
  };

  return {
    clock,
    consoles,
    isReady,
    tool,
    describeTool,
    /** What an operation answers. Fails where it is refused. */
    async ask(name: string, args: object = {}): Promise<Answer> {
      const { isError, structuredContent } = await call(name, args);
      if (isError) throw new Error(`${name} was refused: ${JSON.stringify(structuredContent)}`);
      const { output_schema: schema } = await describeTool(name);
      const { error } = z.fromJSONSchema(schema as never).safeParse(structuredContent);
      expect(error?.issues ?? [], `${name} by its output schema`).toEqual([]);
      return structuredContent;
    },
    /** What the error of an operation says. Fails where it is carried out. */
    async refusal(name: string, args: object = {}): Promise<Refusal> {
      const { isError, structuredContent } = await call(name, args);
      expect(isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(structuredContent)}`).toBe(true);
      return structuredContent.error;
    },
    /** What a resource holds. */
    async read(uri: string): Promise<Answer> {
      const { contents } = await client.readResource({ uri });
      expect(JSON.stringify(contents), 'the resource').not.toMatch(SECRET);
      return JSON.parse((contents[0] as { text: string }).text);
    },
    /** URIs of which further changes are told. */
    async subscribe(uri: string): Promise<readonly string[]> {
      const listening = await client.listen({ resourceSubscriptions: [uri] });
      ends.push(() => listening.close());
      return updates;
    },
    /** Time passes, until the consoles may be asked much again; all that is asked meanwhile is answered. */
    async calm() {
      await clock.jump(CALM_MS);
      for (const console of all) await quiet(console);
      await app.gateway.engine.idle();
    },
    async end() {
      for (const end of ends.reverse()) await end();
    },
  };
}
