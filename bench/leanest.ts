// The leanest gateway that one would write by hand: net, mqtt-packet, a Map and JSON both ways, in one process. No
// broker, no engine, no history, nothing kept: what any gateway on these libraries costs at least.
import net from 'node:net';
import mqtt from 'mqtt-packet';
import { device, type Exchange, message } from './exchange.ts';
import { serveRequests } from './processes.ts';

interface Rule {
  readonly exchange: Exchange;
  readonly out: string;
  readonly i: number;
}

const rules = new Map<string, Rule>();
const subscribers: { socket: net.Socket; prefix: string }[] = [];
const mode = 'home';

function onPublish(topic: string, payload: Buffer): void {
  const rule = rules.get(topic);
  if (!rule) return;
  const { exchange, out, i } = rule;
  const read = JSON.parse(payload.toString()) as Record<string, unknown>;
  if (read[exchange.field] !== exchange.value || mode !== 'home') return;
  const frame = mqtt.generate({
    cmd: 'publish',
    topic: out,
    payload: JSON.stringify(exchange.outPayload(i)),
    qos: 0,
    retain: false,
    dup: false,
  });
  for (const { socket, prefix } of subscribers) if (out.startsWith(prefix)) queue(socket, frame);
}

// What one read leads to leaves in one write.
const queued = new Map<net.Socket, Buffer[]>();
function queue(socket: net.Socket, frame: Buffer): void {
  const frames = queued.get(socket);
  if (frames) frames.push(frame);
  else queued.set(socket, [frame]);
}
function flush(): void {
  for (const [socket, frames] of queued)
    socket.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
  queued.clear();
}

const server = net.createServer(socket => {
  socket.setNoDelay(true);
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

/** @returns the port it listens on */
serveRequests(async ({ rules: count }: { rules: number }) => {
  for (const exchange of [message, device]) {
    for (let i = 0; i < count; i++) {
      rules.set(exchange.inPrefix + i, { exchange, out: exchange.outPrefix + i, i });
    }
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as net.AddressInfo).port;
});
