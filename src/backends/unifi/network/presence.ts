// Who is there, of one client, as a pure machine. Consoles tell of coming and going in ways that mislead: a roam looks like a
// leaving, a sleeping phone is silent, a console that restarts has forgotten everyone, and wireless clients that leave are
// listed as wired for a while. So what counts is when a client was seen last: present as long as that is less than the grace
// time ago, and away only by a whole list of clients that says so, never by silence. Without lists nobody leaves.

/** What is known of one client. Times are elapsed ms by our clock. */
export interface Presence {
  /** Undefined: it was not here long enough ago to say, and we have not watched for long enough either. */
  readonly is: 'present' | 'not present' | undefined;
  /** When it was certainly there for the last time. */
  readonly seenAt: number;
  /** By the console's list and events, at once. */
  readonly isConnected: boolean;
  /** The access point that it is at, of a wireless one. */
  readonly ap: string | undefined;
  /** When it has left, by an event that may be the first half of a roam. */
  readonly leftAt: number | undefined;
}

/** What is learned of a client. */
export type Learned =
  /** It was there at `seenAt`: a row of a list or message, or an event, which says that it came. */
  | {
      readonly type: 'seen';
      readonly at: number;
      readonly seenAt: number;
      readonly ap?: string | undefined;
      readonly isComing?: boolean;
    }
  /** The console remembers it: it was there then, and need not be now. */
  | { readonly type: 'recalled'; readonly at: number; readonly seenAt: number }
  /** An event says that it has left. */
  | { readonly type: 'left'; readonly at: number; readonly leftAt: number }
  /** Time has passed since then. */
  | { readonly type: 'settled'; readonly at: number }
  /** A whole list of clients has come, its own row having been told as `seen`. */
  | {
      readonly type: 'listed';
      readonly at: number;
      /** False: it was not among them. */
      readonly isIn: boolean;
      /** Since when we hear of all that happens, without a gap; −∞: long ago. */
      readonly watchedSince: number;
    };

/** What changed of a client. */
export interface Change {
  readonly presence?: 'present' | 'not present';
  readonly connected?: boolean;
  /** From one access point to another. */
  readonly roamed?: { readonly from: string; readonly to: string };
}

/** Within this a leaving and a coming are a roam. */
export const SETTLE_MS = 10_000;
/** The console's clock has whole seconds: what was seen within this after the leaving may have been before. */
const SLACK_MS = 2_000;

/** Nothing. */
export const nobody: Presence = {
  is: undefined,
  seenAt: Number.NEGATIVE_INFINITY,
  isConnected: false,
  ap: undefined,
  leftAt: undefined,
};

/** The next state. @param graceMs how long a client must not have been seen */
export function learn(presence: Presence, learned: Learned, graceMs: number): Presence {
  switch (learned.type) {
    case 'seen':
      return see(presence, learned, graceMs);
    case 'recalled': {
      const seenAt = Math.max(presence.seenAt, Math.min(learned.seenAt, learned.at));
      return { ...presence, seenAt, is: learned.at - seenAt < graceMs ? 'present' : presence.is };
    }
    case 'left': {
      const leftAt = Math.min(learned.leftAt, learned.at);
      // It has come back since, and this comes late.
      if (leftAt + SLACK_MS < presence.seenAt) return presence;
      // It was there until then. Who is away by now is not brought home by it: consoles notice a leaving minutes later.
      const seenAt = presence.is === 'not present' ? presence.seenAt : Math.max(presence.seenAt, leftAt);
      return { ...presence, seenAt, ...(presence.isConnected && { leftAt }) };
    }
    case 'settled': {
      const { leftAt } = presence;
      if (leftAt === undefined || learned.at - leftAt < SETTLE_MS) return presence;
      return { ...presence, isConnected: false };
    }
    case 'listed': {
      const { is, seenAt } = presence;
      const since = Math.max(seenAt, learned.watchedSince);
      const isAway = is !== 'not present' && learned.at - since >= graceMs;
      return {
        ...presence,
        ...(!learned.isIn && { isConnected: false, leftAt: undefined }),
        ...(isAway && { is: 'not present' as const }),
      };
    }
  }
}

function see(
  presence: Presence,
  { at, seenAt: told, ap, isComing }: Learned & { type: 'seen' },
  graceMs: number,
): Presence {
  const { leftAt } = presence;
  const seenAt = Math.max(presence.seenAt, Math.min(told, at));
  const isBack = leftAt === undefined || (isComing ? told >= leftAt : told > leftAt + SLACK_MS);
  return {
    seenAt,
    ap: ap !== undefined && told >= presence.seenAt - SLACK_MS ? ap : presence.ap,
    is: at - seenAt < graceMs ? 'present' : presence.is,
    // Consoles go on listing those who have left.
    isConnected: isBack || presence.isConnected,
    leftAt: isBack ? undefined : leftAt,
  };
}

/** What is different. */
export function changeOf(before: Presence, after: Presence): Change {
  const isRoam = before.isConnected && after.isConnected && before.ap !== undefined && after.ap !== undefined;
  return {
    ...(after.is !== undefined && after.is !== before.is && { presence: after.is }),
    ...(after.isConnected !== before.isConnected && { connected: after.isConnected }),
    ...(isRoam && before.ap !== after.ap && { roamed: { from: before.ap as string, to: after.ap as string } }),
  };
}
