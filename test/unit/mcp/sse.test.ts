import { describe, expect, it } from 'vitest';
import { readSse } from '../../../src/mcp/sse.ts';

async function read(...chunks: string[]) {
  const body = new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    }),
  ).body as ReadableStream<Uint8Array>;
  const events = [];
  for await (const event of readSse(body)) events.push(event);
  return events;
}

describe('server-sent events', () => {
  it('are read however they are cut into chunks and ended', async () => {
    const expected = [{ event: 'message', data: 'a\nb', id: '1' }];
    expect(await read('id: 1\ndata: a\ndata: b\n\n')).toEqual(expected);
    expect(await read('id: 1\r\ndata: a\r', '\ndata: b\r\n\r', '\n')).toEqual(expected);
    expect(await read(...'id: 1\ndata: a\ndata:b\n\n')).toEqual(expected);
  });

  it('have a type and keep the last id; comments and empty ones are left out', async () => {
    expect(await read(': hello\n\nid: 7\nevent: dropped\ndata: {}\n\ndata: x\n\nid: 8\ndata:\n\n')).toEqual([
      { event: 'dropped', data: '{}', id: '7' },
      { event: 'message', data: 'x', id: '7' },
      { event: 'message', data: '', id: '8' },
    ]);
  });

  it('that are not ended by a blank line were cut off, and do not count', async () => {
    expect(await read('data: half')).toEqual([]);
  });
});
