// The leanest gateways that one would write by hand, in one process: a Map of rules and JSON both ways, over an aedes broker
// as it comes, or over net and mqtt-packet alone, which is no broker. No engine, no history, nothing kept.
import net from 'node:net';
import { Aedes } from 'aedes';
import mqtt from 'mqtt-packet';
import { device, type Exchange, message } from './exchange.ts';
import { serveRequests } from './processes.ts';

interface Rule {
  readonly exchange: Exchange;
  readonly out: string;
  readonly i: number;
}

const rules = new Map<string, Rule>();
const mode = 'home';

/** What a rule answers a message with. */
function answerTo(topic: string, payload: Buffer): { topic: string; payload: string } | undefined {
  const rule = rules.get(topic);
  if (!rule) return undefined;
  const { exchange, out, i } = rule;
  const read = JSON.parse(payload.toString()) as Record<string, unknown>;
  if (read[exchange.field] !== exchange.value || mode !== 'home') return undefined;
  return { topic: out, payload: JSON.stringify(exchange.outPayload(i)) };
}

async function overAedes(): Promise<net.Server> {
  const broker = await Aedes.createBroker();
  for (const { inPrefix } of [message, device]) {
    await broker.subscribe(
      `${inPrefix.split('/')[0]}/#`,
      (packet, done) => {
        const answer = answerTo(packet.topic, packet.payload as Buffer);
        if (answer) broker.publish({ cmd: 'publish', qos: 0, retain: false, dup: false, ...answer }, () => {});
        done();
      },
      () => {},
    );
  }
  return net.createServer({ noDelay: true }, broker.handle);
}

function overNothing(): net.Server {
  const subscribers: { socket: net.Socket; prefix: string }[] = [];
  // What one read leads to leaves in one write.
  const queued = new Map<net.Socket, Buffer[]>();
  const onPublish = (topic: string, payload: Buffer) => {
    const answer = answerTo(topic, payload);
    if (!answer) return;
    const frame = mqtt.generate({ cmd: 'publish', qos: 0, retain: false, dup: false, ...answer });
    for (const { socket, prefix } of subscribers) {
      if (!answer.topic.startsWith(prefix)) continue;
      const frames = queued.get(socket);
      if (frames) frames.push(frame);
      else queued.set(socket, [frame]);
    }
  };
  const flush = () => {
    for (const [socket, frames] of queued)
      socket.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
    queued.clear();
  };
  return net.createServer({ noDelay: true }, socket => {
    const parser = mqtt.parser();
    parser.on('packet', packet => {
      if (packet.cmd === 'publish') onPublish(packet.topic, packet.payload as Buffer);
      else if (packet.cmd === 'connect') {
        socket.write(mqtt.generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }));
      } else if (packet.cmd === 'subscribe') {
        for (const { topic } of packet.subscriptions) subscribers.push({ socket, prefix: topic.replace(/#$/, '') });
        socket.write(mqtt.generate({ cmd: 'suback', messageId: packet.messageId as number, granted: [0] }));
      }
    });
    socket.on('data', chunk => {
      parser.parse(chunk);
      flush();
    });
    socket.on('close', () => {
      const left = subscribers.filter(each => each.socket !== socket);
      subscribers.splice(0, subscribers.length, ...left);
    });
    socket.on('error', () => socket.destroy());
  });
}

/** @returns the port it listens on */
serveRequests(async ({ rules: count, over }: { rules: number; over: 'aedes' | 'nothing' }) => {
  for (const exchange of [message, device]) {
    for (let i = 0; i < count; i++) {
      rules.set(exchange.inPrefix + i, { exchange, out: exchange.outPrefix + i, i });
    }
  }
  const server = over === 'aedes' ? await overAedes() : overNothing();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as net.AddressInfo).port;
});
