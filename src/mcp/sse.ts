// Reads server-sent events from a response, as the HTML standard parses them; for the stdio bridge and the CLI.

/** An event with data. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  /** The last id seen so far, for Last-Event-ID. */
  readonly id: string | undefined;
}

/** Yields events until the stream ends; rejects when the connection breaks. */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let event = 'message';
  let id: string | undefined;
  for await (const chunk of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    // A lone \r ends a line too, but it may be the half of a \r\n that the next chunk completes.
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (field === 'data') data.push(value);
      else if (field === 'event') event = value;
      else if (field === 'id') id = value;
      if (line !== '') continue;
      if (data.length > 0) yield { event, data: data.join('\n'), id };
      data = [];
      event = 'message';
    }
  }
}
