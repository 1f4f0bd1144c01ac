// The bus of the configuration: a broker of our own, or a client of somebody else's.
import type { Bus, BusMessage } from '../bus/bus.ts';
import { type EmbeddedBus, embeddedBus } from '../bus/embedded.ts';
import { remoteBus } from '../bus/remote.ts';
import type { Topics } from '../bus/topics.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Principals } from '../policy/principals.ts';
import { brokerLimits, brokerLogin, keepStrangersOut } from './broker.ts';

/** What the bus is made of. */
export interface BusMakings {
  readonly clock: Clock;
  readonly area: (name: string) => Log;
  readonly topics: Topics;
  readonly principals: Principals;
  /** Of the embedded broker's sessions and retained messages. */
  readonly file: string;
}

/** A bus; what it hears before `hear` is called is lost, and nobody can be connected before then. */
export interface MadeBus {
  readonly bus: Bus;
  readonly embedded: EmbeddedBus | undefined;
  hear(onMessage: (message: BusMessage) => void, onConnect: () => void): void;
  /** To be called when principals, tokens or passwords have changed. */
  principalsChanged(): void;
  stop(): Promise<void>;
}

/** Makes the bus. */
export async function makeBus(
  mqtt: Config['mqtt'],
  { clock, area, topics, principals, file }: BusMakings,
): Promise<MadeBus> {
  let onMessage: (message: BusMessage) => void = () => {};
  let onConnect = () => {};
  const hear: MadeBus['hear'] = (message, connect) => {
    onMessage = message;
    onConnect = connect;
  };
  if (mqtt.mode === 'embedded') {
    const embedded = await embeddedBus({
      clock,
      log: area('broker'),
      topics,
      authenticate: brokerLogin(principals, topics.root),
      limits: brokerLimits(mqtt.limits),
      file,
      onMessage: message => onMessage(message),
    });
    const strangers = keepStrangersOut(embedded.broker, principals, clock);
    const stop = () => {
      strangers.stop();
      return embedded.stop();
    };
    return { bus: embedded, embedded, hear, principalsChanged: strangers.look, stop };
  }
  const bus = remoteBus({
    log: area('bus'),
    topics,
    url: mqtt.url ?? '',
    username: mqtt.username,
    password: mqtt.password?.reveal(),
    onMessage: message => onMessage(message),
    onConnect: () => onConnect(),
  });
  return { bus, embedded: undefined, hear, principalsChanged: () => {}, stop: () => bus.stop() };
}
