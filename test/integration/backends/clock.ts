// A clock that runs with the real one and can jump ahead: what is due in the meantime happens, one by one.
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { eventually } from '../../kit/eventually.ts';

export interface JumpingClock extends Clock {
  /** Moves ahead; each timer that is due by then runs, with a turn of the event loop after it. */
  jump(ms: number): Promise<void>;
  /** Milliseconds until the next timer; undefined when there is none. */
  nextIn(): number | undefined;
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
  cancelReal: () => void;
}

export function jumpingClock(): JumpingClock {
  const timers = new Set<Timer>();
  let ahead = 0;
  const elapsed = () => systemClock.elapsed() + ahead;
  const arm = (timer: Timer) => {
    timer.cancelReal();
    timer.cancelReal = systemClock.after(timer.due - elapsed(), timer.run);
  };
  const next = () => [...timers].reduce<Timer | undefined>((a, b) => (a && a.due <= b.due ? a : b), undefined);
  return {
    now: () => systemClock.now() + ahead,
    elapsed,
    after(delayMs, fn) {
      const timer: Timer = {
        due: elapsed() + delayMs,
        run: () => {
          if (timers.delete(timer)) {
            timer.cancelReal();
            fn();
          }
        },
        cancelReal: () => {},
      };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancelReal();
      };
    },
    async jump(ms) {
      const end = elapsed() + ms;
      for (let timer = next(); timer && timer.due <= end; timer = next()) {
        ahead += Math.max(0, timer.due - elapsed());
        timer.run();
        await turn();
      }
      ahead += Math.max(0, end - elapsed());
      for (const timer of timers) arm(timer);
    },
    nextIn: () => {
      const timer = next();
      return timer && timer.due - elapsed();
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Resolves once something has come about; until then time passes some forty times as fast. */
export const passing = (clock: JumpingClock, look: () => boolean, what = 'it') =>
  eventually(() => {
    void clock.jump(200);
    return look();
  }, what);
