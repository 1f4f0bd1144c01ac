// Whether a device is selected in the Maker API still. The hub's internal way to command devices does not ask that, and
// a person may deselect a lock at any moment: what was listed a while ago is looked at again first.
import { asCausewayError, CausewayError, hasCode } from '../../lib/errors.ts';
import type { ClientParts, HubClient } from './client.ts';

/** What is known of the selection. */
export interface Selection {
  /** All devices that are known were listed at this moment (elapsed ms). */
  listed(at: number): void;
  /**
   * Asks the Maker API, unless it has told so within the last seconds.
   * @throws DEVICE_NOT_FOUND, BACKEND_AUTH, and BACKEND_OFFLINE when it cannot be told
   */
  check(nativeId: string, signal: AbortSignal): Promise<void>;
}

/** A slider sends many commands, and not each of them is worth a second request. */
const HOLDS_MS = 10_000;

/** For one connection. */
export function createSelection({ clock, config }: ClientParts, client: HubClient): Selection {
  let listedAt = Number.NEGATIVE_INFINITY;
  const seenAt = new Map<string, number>();

  return {
    listed(at) {
      listedAt = at;
    },
    async check(nativeId, signal) {
      const now = clock.elapsed();
      if (now - Math.max(listedAt, seenAt.get(nativeId) ?? listedAt) < HOLDS_MS) return;
      const answer = await client
        .ask(`/devices/${encodeURIComponent(nativeId)}`, { again: true, signal })
        .catch(thrown => {
          const error = asCausewayError(thrown);
          if (hasCode(error, 'BACKEND_REJECTED')) return null;
          if (hasCode(error, 'BACKEND_AUTH')) throw error;
          // Nothing was sent yet, so a lost answer leaves no doubt.
          throw new CausewayError('BACKEND_OFFLINE', `it cannot be told whether device ${nativeId} is selected`, {
            hint: 'see whether the hub answers, then send it again',
            cause: error,
          });
        });
      const { id } = (answer ?? {}) as { id?: unknown };
      if (String(id) !== nativeId) {
        throw new CausewayError('DEVICE_NOT_FOUND', `the Maker API does not tell of device ${nativeId} any more`, {
          hint: `see whether it is selected in the Maker API app ${config.app} of the hub`,
        });
      }
      seenAt.set(nativeId, now);
    },
  };
}
