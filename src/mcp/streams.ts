// Open SSE responses: tells when a reader keeps up again, and ends those that stopped reading altogether.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';

/** Watches responses until they close. */
export interface Streams {
  /** @param onDrain the reader took what waited */
  watch(response: ServerResponse, on: { drain(): void; close(): void }): void;
  stop(): void;
}

/** True while a write would only grow the queue. */
export const isBlocked = (response: ServerResponse): boolean => response.destroyed || response.writableNeedDrain;

/** @param stalledMs a reader that takes nothing for so long is cut off; his client connects again */
export function createStreams(clock: Clock, stalledMs: number): Streams {
  /** Response → elapsed time since which it has been blocked, 0 while it is not. */
  const blockedSince = new Map<ServerResponse, number>();

  const check = () => {
    const now = clock.elapsed();
    for (const [response, since] of blockedSince) {
      if (!response.writableNeedDrain) blockedSince.set(response, 0);
      else if (since === 0) blockedSince.set(response, now);
      else if (now - since >= stalledMs) response.destroy();
    }
    cancel = clock.after(stalledMs / 2, check);
  };
  let cancel = clock.after(stalledMs / 2, check);

  return {
    watch(response, on) {
      blockedSince.set(response, 0);
      response.on('drain', () => {
        blockedSince.set(response, 0);
        on.drain();
      });
      response.once('close', () => {
        blockedSince.delete(response);
        on.close();
      });
    },
    stop: () => cancel(),
  };
}
