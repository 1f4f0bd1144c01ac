// The house's notifiers, with what they may use of the gateway.
import { type Message, notifiersOf } from '../backends/house/notifiers/index.ts';
import type { Bus } from '../bus/bus.ts';
import type { House as HouseFile } from '../config/house.ts';
import type { Engine } from '../engine/engine.ts';
import type { OutgoingEffect } from '../engine/kind.ts';
import type { Clock } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { rootCause } from '../model/cause.ts';
import type { Egress } from '../policy/egress.ts';

/** What notifiers may use. */
export interface NotifyParts {
  readonly engine: () => Engine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly egress: Egress;
  /** The gateway stops: what is on its way is not waited for. */
  readonly signal: AbortSignal;
}

const ANSWER_TIMEOUT_MS = 30_000;

/** Sends a notification; rejects when it did not get through. */
export function notifySender(
  house: HouseFile,
  parts: NotifyParts,
): (effect: Extract<OutgoingEffect, { type: 'notify' }>) => Promise<void> {
  const { engine, bus, clock, log, egress, signal } = parts;
  const notifiers = notifiersOf(house.notifiers, house.default_notifier, {
    clock,
    log,
    device: ref => engine().core.devices.get(ref),
    async command(device, command, args) {
      const { core } = engine();
      const cause = rootCause(core.ids(), { kind: 'system', ref: 'notify' }, 'system');
      const said = await engine().do(() => core.gate.submit(core.tx, { device, command, args, cause }));
      if (said.error) throw said.error;
      const result = await engine().resultOf(said.id, ANSWER_TIMEOUT_MS, new AbortController().signal);
      if (result && result.outcome !== 'ok')
        throw new CausewayError(result.error?.code ?? 'BACKEND_REJECTED', result.error?.message ?? result.outcome);
    },
    publish: async (topic, payload, options) => bus.publish(topic, payload, options),
    async fetch(input, init) {
      await egress.check(input instanceof Request ? input.url : String(input));
      const ended = init?.signal ? AbortSignal.any([init.signal, signal]) : signal;
      return fetch(input, { ...init, redirect: 'manual', signal: ended });
    },
  });
  for (const [name, fault] of Object.entries(notifiers.faults))
    log.warn({ notifier: name, ...fault.toJSON() }, 'a notifier of house.yaml cannot be used');
  return ({ message, title, to, priority, tag, ask }) => {
    const known = ['low', 'normal', 'high', 'urgent'] as const;
    const told: Message = { message, title, priority: known.find(one => one === priority), tag, answers: ask?.answers };
    return notifiers.send(to, told);
  };
}
