// Run as a child process: the gateway publishes in process while one subscriber sleeps. Prints what became of it; plain
// aedes dies instead.
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import mqttPacket, { type Packet } from 'mqtt-packet';

const MESSAGES = 30_000;
const PER_TURN = 200;
const DRAIN_MS = 2_500;
const payload = 'x'.repeat(2_000);

async function subscriber(port: number, clientId: string): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const send = (packet: Packet) => {
    socket.write(mqttPacket.generate(packet));
    return new Promise<void>(resolve => socket.once('data', () => resolve()));
  };
  await send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId, keepalive: 0 });
  await send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] });
  return socket;
}

async function publishFor(port: number, publish: (topic: string) => void): Promise<number> {
  const sleeper = await subscriber(port, 'laptop');
  sleeper.pause();
  let published = 0;
  while (published < MESSAGES) {
    for (let i = 0; i < PER_TURN; i++) publish(`ev/${published++ % 50}`);
    await pause(3);
  }
  await pause(DRAIN_MS);
  return published;
}

if (process.argv[2] === 'plain') {
  const { Aedes } = await import('aedes');
  const aedes = await Aedes.createBroker({ drainTimeout: DRAIN_MS });
  const server = net.createServer(aedes.handle);
  // The gateway itself listens: with nobody but such a listener left, the backlog is released in one recursion.
  aedes.subscribe(
    '#',
    (_packet, done) => done(),
    () => {},
  );
  server.listen(0, '127.0.0.1', async () => {
    const { port } = server.address() as net.AddressInfo;
    const published = await publishFor(port, topic =>
      aedes.publish({ cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false }, () => {}),
    );
    process.stdout.write(JSON.stringify({ published }), () => process.exit(0));
  });
} else {
  const { startBroker } = await import('../../../broker/index.ts');
  const { systemClock } = await import('../../../src/lib/clock.ts');
  const { silentLog } = await import('../../../src/lib/log.ts');
  const broker = await startBroker({
    clock: systemClock,
    log: silentLog,
    authenticate: () => ({ name: 'anybody', publish: ['#', 'causeway/#'], subscribe: ['#'] }),
    root: 'causeway',
    isInput: () => false,
    onPublish() {},
    persistence: undefined,
    limits: { drainTimeoutMs: DRAIN_MS },
  });
  const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
  let healthy = 0;
  const parser = mqttPacket.parser();
  parser.on('packet', () => healthy++);
  (await subscriber(port, 'healthy')).on('data', bytes => parser.parse(bytes));
  const before = process.memoryUsage().rss;
  const published = await publishFor(port, topic => broker.publish(topic, payload));
  const grownMb = Math.round((process.memoryUsage().rss - before) / 1e6);
  const evicted = broker.counters().notices.evicted ?? 0;
  process.stdout.write(JSON.stringify({ published, healthy, grownMb, evicted }), () => process.exit(0));
}
