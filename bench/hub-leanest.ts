// What one would write by hand between a hub and itself: a post comes in, a command goes out. No rule, no history, nothing
// kept: what the way costs at least, with the hub's own part of it.
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LAMPS } from './hub-request.ts';
import { serveRequests } from './processes.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

serveRequests(async ({ url, app, token }: { url: string; app: number; token: string }) => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    response.writeHead(204).end();
    const { content } = JSON.parse(Buffer.concat(chunks).toString()) as {
      content: { name: string; deviceId: string; value: string };
    };
    if (content.name !== 'illuminance') return;
    const body = {
      id: LAMPS + Number(content.deviceId),
      method: 'setLevel',
      args: [{ type: 'NUMBER', value: Number(content.value) }],
    };
    const command = httpRequest(`${url}/device/runmethod`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json' },
    });
    command.on('response', answer => answer.resume());
    command.end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await fetch(
    `${url}/apps/api/${app}/postURL/${encodeURIComponent(`http://127.0.0.1:${port}/`)}?access_token=${token}`,
  );
  return port;
});
