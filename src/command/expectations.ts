// Expectations: a command that left is to bring values about; the report that does inherits its cause. Without them
// every chain of causes would be cut at the device.

import { jsonEqual } from '../lib/json.ts';
import type { CommandDecl } from '../model/capability.ts';
import { type Cause, causedBy } from '../model/cause.ts';
import type { Command } from '../model/command.ts';
import { type Json, valuesEqual } from '../model/value.ts';

/** How long a device has to bring a value about. */
const PENDING_MS = 10_000;
/** How long after that another value is a bounce, not news. */
const SETTLE_MS = 1_000;

interface Expectation {
  readonly command: string;
  readonly attribute: string;
  /** undefined: any value (a toggle, a stop). */
  readonly value: Json | undefined;
  readonly cause: Cause;
  until: number;
  met: boolean;
  /** A newer command wants another value: its report still has its cause, but is waited for no more. */
  superseded?: true;
}

const fits = ({ value: wanted }: Expectation, value: Json, step?: number): boolean =>
  wanted === undefined || valuesEqual(wanted, value, step);

/** The value that a command's effect brings about; undefined where it is not told. */
export function effectValue(
  effect: CommandDecl['effects'][number],
  args: Readonly<Record<string, Json>>,
): Json | undefined {
  if ('value' in effect) return effect.value;
  return 'fromArg' in effect ? args[effect.fromArg] : undefined;
}

/** Open expectations, by device. Instants are engine time. */
export class Expectations {
  private readonly open = new Map<string, Expectation[]>();

  /**
   * Opens those of a command that is about to leave. Older ones on the same attributes are superseded, but for those that
   * wait for the very same value: each command has its own echo, in order.
   */
  expect(command: Command, declared: CommandDecl, now: number): void {
    const fresh = declared.effects
      .filter(effect => !('fromArg' in effect) || command.args[effect.fromArg] !== undefined)
      .map(
        (effect): Expectation => ({
          command: command.id,
          attribute: effect.attribute,
          value: effectValue(effect, command.args),
          cause: causedBy(command.cause, command.id),
          until: now + PENDING_MS,
          met: false,
        }),
      );
    if (fresh.length === 0) return;
    const older = this.alive(command.device, now).flatMap((old): Expectation[] => {
      const newer = fresh.find(one => one.attribute === old.attribute);
      if (!newer) return [old];
      if (old.met) return [];
      return [jsonEqual(newer.value, old.value) ? old : { ...old, superseded: true }];
    });
    this.open.set(command.device, [...older, ...fresh]);
  }

  /**
   * The cause that a report inherits, if it was expected, or contradicts what was. Tell `meet` once the report counts.
   * @param step smallest difference that counts
   */
  match(device: string, attribute: string, value: Json, now: number, step?: number): Cause | undefined {
    const expectation = this.find(device, attribute, value, now, step);
    if (!expectation) return undefined;
    const isNewest = !expectation.superseded && fits(expectation, value, step);
    return { ...expectation.cause, contradicts: !isNewest };
  }

  /** A report was taken over: what was expected has come, and its bounces are still its own for a moment. */
  meet(device: string, attribute: string, value: Json, now: number, step?: number): void {
    const expectation = this.find(device, attribute, value, now, step);
    if (!expectation || expectation.met || !fits(expectation, value, step)) return;
    expectation.met = true;
    expectation.until = now + SETTLE_MS;
  }

  /** The oldest that waits for the value, else one that was met by it, else the newest, which it contradicts. */
  private find(device: string, attribute: string, value: Json, now: number, step?: number): Expectation | undefined {
    if (!this.open.has(device)) return undefined;
    const mine = this.alive(device, now).filter(one => one.attribute === attribute);
    const fitting = mine.filter(one => fits(one, value, step));
    return fitting.find(one => !one.met) ?? fitting[0] ?? mine.at(-1);
  }

  /** True while something told to the device has not shown yet. */
  isPending(device: string, now: number): boolean {
    return (
      this.open.has(device) && this.alive(device, now).some(expectation => !expectation.met && !expectation.superseded)
    );
  }

  /** The command failed: nothing is to be expected of it. */
  drop(device: string, command: string): void {
    const kept = this.open.get(device)?.filter(expectation => expectation.command !== command);
    if (kept?.length) this.open.set(device, kept);
    else this.open.delete(device);
  }

  private alive(device: string, now: number): Expectation[] {
    const all = this.open.get(device);
    if (!all) return [];
    const alive = all.filter(expectation => expectation.until > now);
    if (alive.length === 0) this.open.delete(device);
    else if (alive.length < all.length) this.open.set(device, alive);
    return alive;
  }
}
