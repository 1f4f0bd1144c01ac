// What the engine tells of commands: the event that one has left the gate, and its end to those who wait for it.
import type { Clock } from '../lib/clock.ts';
import type { Command, CommandResult } from '../model/command.ts';
import { backendOf } from '../model/device.ts';
import type { Json } from '../model/value.ts';
import type { NewEvent } from './core.ts';

/** The event of a command that passed the gate; its arguments are the value, beside its id. */
export const commandEvent = (command: Command): NewEvent => ({
  kind: 'system',
  backend: backendOf(command.device),
  device: command.device,
  attribute: command.command,
  value: { ...command.args, $command: command.id } as Json,
  previous: null,
  quality: 'good',
  change: 'reported',
  cause: command.cause,
});

/** Those who wait for the end of a command they sent. */
export class ResultWaiters {
  private readonly waiting = new Map<string, (result?: CommandResult) => void>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The end of a sent command; undefined when it did not come in time. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<CommandResult | undefined> {
    return new Promise(resolve => {
      const end = (result?: CommandResult) => {
        cancel();
        this.waiting.delete(id);
        resolve(result);
      };
      const cancel = this.clock.after(timeoutMs, () => end());
      this.waiting.set(id, end);
      signal.addEventListener('abort', () => end(), { once: true });
    });
  }

  /** Tells them, once the turn is committed. */
  ended(result: CommandResult): void {
    this.waiting.get(result.id)?.(result);
  }
}
