// One person: present while a tracker is, and for a while longer.
import type { Cancel, Clock } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';

/** What a person is fused from. */
export interface PersonParts {
  readonly clock: Clock;
  /** Engine time. */
  readonly now: () => number;
  readonly awayAfterMs: number;
  /** True, false or, while it cannot be told, undefined for each tracker; false with the instant since when. */
  readonly trackers: () => readonly { isPresent: boolean | undefined; since: number }[];
  /** What the person was last, before a restart too; undefined when nothing is known. */
  readonly last: () => Json | undefined;
  /** What was told of the person since the start. */
  readonly told: () => Json | undefined;
  /** Called outside of `look`, once nobody was seen for long enough. */
  readonly onAway: () => void;
}

/** A person with a timer. */
export interface Person {
  /** Looks at the trackers again and says what the person is; undefined when it cannot be told. */
  look(): Json | undefined;
  stop(): void;
}

/** Fuses the trackers of a person. That none can be told says nothing: whoever was present stays so. */
export function personOf(parts: PersonParts): Person {
  let pending: { at: number; cancel: Cancel } | undefined;
  let wasSeen = false;
  /** Since when nobody says to see the person while some tracker, perhaps the one that did, cannot be told. */
  let missedSince: number | undefined;
  const stop = () => {
    pending?.cancel();
    pending = undefined;
  };
  const away = () => {
    pending = undefined;
    parts.onAway();
  };
  return {
    stop,
    look() {
      const all = parts.trackers();
      const known = all.filter(tracker => tracker.isPresent !== undefined);
      if (known.some(tracker => tracker.isPresent)) {
        stop();
        wasSeen = true;
        missedSince = undefined;
        return 'present';
      }
      const isHalfBlind = known.length > 0 && known.length < all.length;
      missedSince = wasSeen && isHalfBlind ? (missedSince ?? parts.now()) : undefined;
      if (known.length === 0 || parts.last() !== 'present') {
        stop();
        return known.length > 0 ? 'not present' : parts.told();
      }
      // Counted from when the last tracker left, so that a restart in between neither shortens nor prolongs it.
      const at = Math.max(missedSince ?? 0, ...known.map(tracker => tracker.since)) + parts.awayAfterMs;
      if (at <= parts.now()) {
        stop();
        return 'not present';
      }
      if (pending?.at !== at) {
        stop();
        pending = { at, cancel: parts.clock.after(at - parts.now(), away) };
      }
      return 'present';
    },
  };
}
