// An MQTT client for tests: what it was sent lands in `messages`.
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';

/** A message as it came; `json` is undefined where the payload is none. */
export interface Received {
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: payloads are for the tests to look into
  readonly json: any;
}

/** A connected client. */
export interface TestMqtt {
  readonly client: MqttClient;
  readonly messages: Received[];
  /** Messages whose topic begins so, in order. */
  under(prefix: string): Received[];
  publish(topic: string, payload: object | string, options?: { qos?: 0 | 1; retain?: boolean }): Promise<void>;
  end(): Promise<void>;
}

/** Connects and subscribes; rejects when it is not let in. */
export async function connectMqtt(
  url: string,
  filters: readonly string[] = [],
  options: IClientOptions = {},
): Promise<TestMqtt> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, connectTimeout: 10_000, ...options }, false);
  const messages: Received[] = [];
  client.on('message', (topic, payload, { retain }) => {
    const text = payload.toString('utf8');
    messages.push({ topic, text, retain, json: jsonOf(text) });
  });
  client.on('error', () => {});
  if (filters.length > 0) await client.subscribeAsync([...filters], { qos: 1 });
  return {
    client,
    messages,
    under: prefix => messages.filter(message => message.topic.startsWith(prefix)),
    async publish(topic, payload, { qos = 1, retain = false } = {}) {
      await client.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), {
        qos,
        retain,
      });
    },
    end: () => client.endAsync(true),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
