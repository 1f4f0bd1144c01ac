// Writing states: checked by us, since ioBroker takes anything; sent as a command; done when the adapter confirms it.
import type { Cancel, Clock } from '../../lib/clock.ts';
import { CausewayError, hasCode } from '../../lib/errors.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import type { Write } from './functional/index.ts';
import type { Matcher } from './patterns.ts';
import type { IobSocket } from './socket.ts';
import { misfitOf, readValue, storedValue } from './values.ts';
import type { IobState } from './wire.ts';

/** What writing needs. */
export interface WritesParts {
  readonly socket: Pick<IobSocket, 'ask'>;
  readonly clock: Clock;
  readonly confirmMs: number;
  readonly isUnowned: Matcher;
}

interface Waiting {
  readonly write: Write;
  /** What ioBroker was given. */
  readonly stored: Json;
  /** Its own echo has come: a second one of the same value is somebody else's. */
  hasEchoed: boolean;
  /** What was confirmed in its place. */
  other: Json | undefined;
  readonly done: () => void;
}

/** Writes that wait for their confirmation, in order per state. */
export class Writes {
  private readonly parts: WritesParts;
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(parts: WritesParts) {
    this.parts = parts;
  }

  /**
   * Writes all of them, in order, and waits until all are confirmed.
   * @throws ARGUMENT_INVALID before anything is sent; BACKEND_REJECTED; BACKEND_OFFLINE; BACKEND_UNCONFIRMED
   */
  async send(writes: readonly Write[], signal: AbortSignal): Promise<void> {
    for (const { state, value } of writes) {
      const misfit = misfitOf(state, value);
      if (misfit === undefined) continue;
      const hint = 'get_iobroker_object shows what the state takes';
      throw new CausewayError('ARGUMENT_INVALID', misfit, { path: 'value', hint });
    }
    signal.throwIfAborted();
    const ends = await Promise.allSettled(writes.map(write => this.sendOne(write, signal)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** A state was written by anybody; true when it is the echo of a command of ours. */
  take(id: string, state: IobState | undefined): boolean {
    const waiting = this.waiting.get(id);
    if (!waiting || !state) return false;
    if (!state.ack) {
      const mine = waiting.find(one => !one.hasEchoed && valuesEqual(one.stored, state.val));
      if (mine) mine.hasEchoed = true;
      return mine !== undefined;
    }
    const met = waiting.find(one => confirms(one, state));
    for (const one of waiting) one.other = state.val;
    met?.done();
    return false;
  }

  private async sendOne(write: Write, signal: AbortSignal): Promise<void> {
    const { socket, clock, confirmMs, isUnowned } = this.parts;
    const { id } = write.state;
    const stored = storedValue(write.value);
    let cancel: Cancel = () => {};
    let entry: Waiting | undefined;
    const confirmed = new Promise<void>((resolve, reject) => {
      entry = { write, stored, hasEchoed: false, other: undefined, done: resolve };
      const late = () => reject(unconfirmed(id, entry?.other, confirmMs));
      cancel = clock.after(confirmMs, late);
      signal.addEventListener('abort', late, { once: true });
      this.waiting.set(id, [...(this.waiting.get(id) ?? []), entry]);
    });
    // It may fail while the answer is still awaited.
    confirmed.catch(() => {});
    try {
      await socket.ask('setState', id, { val: stored, ack: false }).catch(error => {
        throw hasCode(error, 'BACKEND_TIMEOUT') ? unconfirmed(id, undefined, confirmMs) : error;
      });
      if (!isUnowned(id)) await confirmed;
    } finally {
      cancel();
      const left = this.waiting.get(id)?.filter(one => one !== entry) ?? [];
      if (left.length > 0) this.waiting.set(id, left);
      else this.waiting.delete(id);
    }
  }
}

/** Devices round: a hundredth of the range is the same. */
function confirms({ write: { state, isPress }, stored }: Waiting, { val }: IobState): boolean {
  if (isPress) return true;
  const value = readValue(state, val);
  const wanted = readValue(state, stored);
  const { min = 0, max = min, step = 0 } = state;
  const near = Math.max(step, (max - min) / 50);
  return value !== undefined && wanted !== undefined && valuesEqual(value, wanted, near);
}

function unconfirmed(id: string, other: Json | undefined, confirmMs: number): CausewayError {
  const instead = other === undefined ? '' : `; it said ${JSON.stringify(other)} instead`;
  return new CausewayError(
    'BACKEND_UNCONFIRMED',
    `${id} was written, and its adapter did not confirm it within ${confirmMs / 1_000} s${instead}`,
    {
      hint: 'see whether the adapter runs and the device is in reach; if nobody confirms this state, list it in `unowned`',
    },
  );
}
