import { describe, expect, it } from 'vitest';
import { createReplay } from '../../../src/mcp/replay.ts';

const note = (n: number) => ({ jsonrpc: '2.0', method: 'notifications/x', params: { n } });
const result = (length: number) => ({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(length) });

function replayed(limits = { events: 3, bytes: 100_000 }) {
  let gaps = 0;
  const replay = createReplay(limits, () => gaps++);
  const replayAfter = async (id: string) => {
    const sent: unknown[] = [];
    await replay.replayEventsAfter(id, { send: async (_id, message) => void sent.push(message) });
    return sent;
  };
  return { replay, replayAfter, gaps: () => gaps };
}

describe('the replay of a session', () => {
  it('gives what came after an event, of that stream alone', async () => {
    const { replay, replayAfter, gaps } = replayed({ events: 10, bytes: 100_000 });
    const first = await replay.storeEvent('a', note(1));
    await replay.storeEvent('b', note(2));
    await replay.storeEvent('a', note(3));
    expect(await replayAfter(first)).toEqual([note(3)]);
    expect(gaps()).toBe(0);
  });

  it('keeps a bounded number, and says when something is gone', async () => {
    const { replay, replayAfter, gaps } = replayed();
    const ids: string[] = [];
    for (let n = 1; n <= 5; n++) ids.push(await replay.storeEvent('a', note(n)));
    expect(await replayAfter(ids[0] as string)).toEqual([note(3), note(4), note(5)]);
    expect(gaps()).toBe(1);
    expect(await replayAfter(ids[1] as string)).toEqual([note(3), note(4), note(5)]);
    expect(gaps()).toBe(1);
  });

  it('keeps a bounded size: a large result is not kept at all', async () => {
    const { replay, replayAfter } = replayed({ events: 10, bytes: 1_000 });
    const first = await replay.storeEvent('a', result(1));
    await replay.storeEvent('a', result(5_000));
    await replay.storeEvent('a', note(3));
    expect(await replayAfter(first)).toEqual([note(3)]);
  });

  it('knows its own ids only, and never sends the SDK’s empty primer', async () => {
    const { replay, replayAfter } = replayed();
    const primer = await replay.storeEvent('a', {});
    await replay.storeEvent('a', note(1));
    expect(await replayAfter(primer)).toEqual([note(1)]);
    expect(await replay.getStreamIdForEventId(primer)).toBe('a');
    for (const id of ['', 'a', 'a~', 'a~0', 'a~99', 'a~1.5', '~1'])
      expect(await replay.getStreamIdForEventId(id)).toBeUndefined();
  });
});
