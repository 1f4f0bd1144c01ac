// The table of notifiers, and those of one house by name.
import { CausewayError } from '../../../lib/errors.ts';
import { defineTable, unionOf } from '../../../lib/registry.ts';
import { didYouMean } from '../../../lib/text.ts';
import { device } from './device.ts';
import { log } from './log.ts';
import { mqtt } from './mqtt.ts';
import type { Message, Notifier, NotifierKind, NotifierPorts } from './notifier.ts';
import { ntfy } from './ntfy.ts';
import { webhook } from './webhook.ts';

export type { Message, NotifierPorts } from './notifier.ts';

/** All kinds of notifier that are built. */
export const notifiers = defineTable<NotifierKind>('notifier', [ntfy, webhook, mqtt, device, log]);

/** The schema of a notifier. */
const NotifierSchema = unionOf(notifiers, 'Notifier');

// Kinds that house.yaml may name already.
const FORESEEN: readonly unknown[] = ['telegram', 'smtp', 'pushover'];

/** The notifiers of a house. */
export interface Notifiers {
  readonly names: readonly string[];
  /** What is wrong with some of them; the others work. */
  readonly faults: Readonly<Record<string, CausewayError>>;
  /** @param to a name; the default one where none is given. @throws NOT_FOUND, or the fault of the one named */
  send(to: string | undefined, message: Message): Promise<void>;
}

/** Creates what house.yaml names. Without any, and without a default where several are named, the log is told. */
export function notifiersOf(
  configs: Readonly<Record<string, object>>,
  preset: string | undefined,
  ports: NotifierPorts,
): Notifiers {
  const ready = new Map<string, Notifier>();
  const faults: Record<string, CausewayError> = {};
  for (const [name, config] of Object.entries(configs)) {
    const parsed = NotifierSchema.safeParse(config);
    if (parsed.success) ready.set(name, notifiers.get(parsed.data.type as string).create(parsed.data, ports));
    else faults[name] = faultOf(name, config, parsed.error.issues[0]);
  }
  const names = Object.keys(configs);
  const chosen = preset ?? (names.length === 1 ? names[0] : undefined);
  const toLog = log.create({ type: 'log' }, ports);
  return {
    names,
    faults,
    async send(to, message) {
      const name = to ?? chosen;
      if (name === undefined) return toLog.send(message);
      const notifier = ready.get(name);
      if (notifier) return notifier.send(message);
      throw (
        faults[name] ??
        new CausewayError('NOT_FOUND', `there is no notifier "${name}"`, { hint: didYouMean(name, names) })
      );
    },
  };
}

function faultOf(
  name: string,
  config: object,
  issue: { path: PropertyKey[]; message: string } | undefined,
): CausewayError {
  const path = ['notifiers', name, ...(issue?.path ?? [])].map(String).join('/');
  const { type } = config as { type?: unknown };
  if (FORESEEN.includes(type)) {
    return new CausewayError('UNSUPPORTED', `the notifier "${name}": ${String(type)} is not built yet`, {
      path,
      hint: 'ntfy, webhook, mqtt and device are',
    });
  }
  return new CausewayError('CONFIG_INVALID', `the notifier "${name}": ${issue?.message ?? 'is invalid'}`, { path });
}
