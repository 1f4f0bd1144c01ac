// What opens and closes: blinds, gates, locks, and the sensors at doors and windows.
import type { StateObject } from '../wire.ts';
import type { Draft, Write } from './draft.ts';
import { measureOf, percent, type Scale, words } from './scales.ts';

type Has = (name: string) => StateObject | undefined;

const press = (state: StateObject): readonly Write[] => [{ state, value: true, isPress: true }];

/** Blinds: 100 is open, here as there. */
export function blind(draft: Draft, has: Has): void {
  const set = has('SET');
  const seen = measureOf(set, has('ACTUAL')) ?? set;
  if (seen) {
    const scale = percent(seen);
    draft.attribute('cover', 'position', seen, scale);
    draft.made('cover', 'windowShade', [seen], value => {
      const native = value(seen.id);
      const position = native === undefined ? undefined : scale.read(native);
      if (typeof position !== 'number') return position;
      return position <= 0 ? 'closed' : position >= 100 ? 'open' : 'partially open';
    });
  }
  const [open, close, stop] = [has('OPEN'), has('CLOSE'), has('STOP')];
  if (set) {
    const scale = percent(set);
    const to = (position: number) => [{ state: set, value: scale.write(position) }];
    draft.command('cover', 'open', () => to(100));
    draft.command('cover', 'close', () => to(0));
    draft.command('cover', 'setPosition', ({ position }) => to(Number(position)));
  }
  if (open) draft.command('cover', 'open', () => press(open));
  if (close) draft.command('cover', 'close', () => press(close));
  if (stop) draft.command('cover', 'stop', () => press(stop));
}

/** A gate: what it was told is not where it is, if anything tells that. */
export function gate(draft: Draft, has: Has): void {
  const [set, opened, closed, actual] = [has('SET'), has('OPENED'), has('CLOSED'), has('ACTUAL')];
  const seen = closed ?? opened ?? actual ?? set;
  const scale = closed ? words(closed, 'closed', 'open') : seen && words(seen, 'open', 'closed');
  draft.attribute('garage_door', 'door', seen, scale);
  if (!set) return;
  const by = words(set, 'open', 'closed');
  draft.command('garage_door', 'open', () => [{ state: set, value: by.write('open') }]);
  draft.command('garage_door', 'close', () => [{ state: set, value: by.write('closed') }]);
}

// What a boolean without a role of its own means is told by its name alone, and a lock is no place for guesses.
const TELLS_LOCK = /(^|\.)(state|actual|status|lock(ed)?|lock_?state)$/i;

/** A lock. `switch.lock` is true where it is open (ioBroker's list of roles); labels that say otherwise are believed. */
export function lock(draft: Draft, has: Has): void {
  const set = has('SET');
  const actual = has('ACTUAL');
  const seen = actual && TELLS_LOCK.test(actual.id) ? actual : set;
  if (seen) draft.attribute('lock', 'lock', seen, lockScale(seen));
  const door = has('DOOR_STATE');
  if (door && door.role !== 'state') draft.attribute('contact', 'contact', door, words(door, 'open', 'closed'));
  if (!set) return;
  const scale = lockScale(set);
  draft.command('lock', 'lock', () => [{ state: set, value: scale.write('locked') }]);
  draft.command('lock', 'unlock', () => [{ state: set, value: scale.write('unlocked') }]);
}

function lockScale(state: StateObject): Scale {
  const isLockedByLabel = /^(locked|closed?|verriegelt|zu)$/i.test(state.labels?.true ?? '');
  return isLockedByLabel ? words(state, 'locked', 'unlocked') : words(state, 'unlocked', 'locked');
}

/** A door or window: true is open, for both (ioBroker's list of roles). */
export const opening = (draft: Draft, has: Has): void => {
  const actual = has('ACTUAL');
  if (actual) draft.attribute('contact', 'contact', actual, words(actual, 'open', 'closed'));
};

/** A window that may be tilted, which is open. */
export function tiltable(draft: Draft, has: Has): void {
  const actual = has('ACTUAL');
  if (!actual) return;
  const closed = Object.entries(actual.labels ?? {}).find(([, label]) =>
    /^(closed?|zu|geschlossen)$/i.test(label),
  )?.[0];
  draft.made('contact', 'contact', [actual], value => {
    const now = value(actual.id);
    return now === undefined || now === null ? now : String(now) === (closed ?? '0') ? 'closed' : 'open';
  });
}
