// Counts what is refused and dropped, and tells of it without flooding: a broken script that publishes where it may not,
// two hundred times a second, is one line in the log and a number.
import type { Clock, Log, Notice, NoticeKind } from './types.ts';

/** Where every part of the broker reports to. */
export interface Notices {
  add(notice: Notice): void;
  readonly counts: Readonly<Partial<Record<NoticeKind, number>>>;
}

const QUIET_MS = 10_000;
const KEYS_KEPT = 1_000;

/** No notices yet. `onNotice` may throw; that is logged. */
export function createNotices(clock: Clock, log: Log, onNotice: ((notice: Notice) => void) | undefined): Notices {
  const counts: Partial<Record<NoticeKind, number>> = {};
  const toldAt = new Map<string, number>();

  const isRepeat = (notice: Notice): boolean => {
    const key = `${notice.kind} ${notice.client ?? notice.address ?? ''}`;
    const now = clock.elapsed();
    const last = toldAt.get(key);
    if (last !== undefined && now - last < QUIET_MS) return true;
    if (toldAt.size >= KEYS_KEPT) toldAt.clear();
    toldAt.set(key, now);
    return false;
  };

  return {
    counts,
    add(notice) {
      counts[notice.kind] = (counts[notice.kind] ?? 0) + 1;
      if (isRepeat(notice)) return;
      const { text, ...details } = notice;
      // Telephones come and go all day.
      log[notice.kind === 'client-error' ? 'debug' : 'warn'](details, `mqtt: ${text}`);
      try {
        onNotice?.(notice);
      } catch (error) {
        log.error({ err: error }, 'mqtt: a listener for notices threw');
      }
    },
  };
}
