// MCP by hand: raw requests and a raw SSE reader that can stop reading, for what SDK clients hide.
import { type IncomingMessage, request } from 'node:http';

const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** A JSON-RPC POST; the answer's first message, whether JSON or SSE. */
export async function post(url: string, message: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  const data = response.headers.get('content-type')?.includes('event-stream')
    ? text
        .split('\n')
        .find(line => line.startsWith('data: {'))
        ?.slice(6)
    : text;
  return { status: response.status, headers: response.headers, text, json: data ? JSON.parse(data) : undefined };
}

/** A session by hand; its id. */
export async function openSession(url: string, headers: Record<string, string> = {}): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const { headers: answer } = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, headers);
  const id = answer.get('mcp-session-id') ?? '';
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, { 'Mcp-Session-Id': id, ...headers });
  return id;
}

/** A POST for the revision 2026-07-28. */
export const modernHeaders = (method: string): Record<string, string> => ({
  ...JSON_HEADERS,
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
});

/** The envelope that each request of that revision carries. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** An open SSE response. */
export interface RawStream {
  readonly status: number;
  readonly response: IncomingMessage;
  /** Frames so far: `id` and the parsed data. */
  readonly frames: { id?: string; data: { method?: string; params?: { uri?: string } } }[];
  destroy(): void;
}

/** Opens an SSE stream; reads it unless `frozen`. */
export function openStream(
  url: string,
  options: { method?: 'GET' | 'POST'; headers: Record<string, string>; body?: unknown; frozen?: boolean },
): Promise<RawStream> {
  const { method = 'GET', headers, body, frozen = false } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/mcp`,
      { method, headers: { Accept: 'text/event-stream', ...headers }, agent: false },
      response => {
        const frames: RawStream['frames'] = [];
        let text = '';
        if (frozen) response.pause();
        else {
          response.setEncoding('utf8');
          response.on('data', chunk => {
            text += chunk;
            const parts = text.split('\n\n');
            text = parts.pop() ?? '';
            for (const part of parts) {
              const data = /^data: (\{.*)$/m.exec(part)?.[1];
              if (data) frames.push({ id: /^id: (.*)$/m.exec(part)?.[1], data: JSON.parse(data) });
            }
          });
        }
        response.on('error', () => {});
        resolve({ status: response.statusCode ?? 0, response, frames, destroy: () => outgoing.destroy() });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
