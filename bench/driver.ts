// Drives a gateway from a process of its own, over raw sockets with frames that are encoded beforehand, so that the
// driver is never what is slow. Every event must be answered once and in order; anything else ends the benchmark.
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import mqtt from 'mqtt-packet';
import { quantile } from './benchmark.ts';
import { device, message } from './exchange.ts';
import { serveRequests } from './processes.ts';

/** Who is driven, and by which exchange. */
export interface Drive {
  readonly exchange: 'message' | 'device';
  /** Where events go in. */
  readonly into: number;
  /** Where the answers are subscribed to. */
  readonly outOf: number;
  /** Events are for rules 0 … rules - 1, each in turn. */
  readonly rules: number;
}

/** So many events as fast as they are answered, at most `window` on their way; answers the milliseconds it took. */
export interface Load extends Drive {
  readonly do: 'load';
  readonly events: number;
  readonly window: number;
}

/** So many a second for a while; answers the latencies' p50 and p99 in milliseconds. */
export interface Pace extends Drive {
  readonly do: 'pace';
  readonly rate: number;
  readonly ms: number;
}

/** Tries until the first answer comes; answers when that was (epoch ms). */
export interface First extends Drive {
  readonly do: 'first';
}

const EXCHANGES = { message, device };
const STALL_MS = 20_000;
const FIRST_MS = 120_000;

/** The number that a topic ends with. */
function numberAt(chunk: Buffer, end: number): number {
  let value = 0;
  for (let at = end - 1, unit = 1; ; at--, unit *= 10) {
    const digit = (chunk[at] as number) - 48;
    if (digit < 0 || digit > 9) return value;
    value += digit * unit;
  }
}

/** Cuts a stream into frames and tells the number in the topic of each PUBLISH. */
function answersOf(onAnswer: (rule: number) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return read => {
    const chunk = rest.length === 0 ? read : Buffer.concat([rest, read]);
    let at = 0;
    for (;;) {
      let length = 0;
      let shift = 0;
      let body = at + 1;
      while (body < chunk.length && (chunk[body] as number) >= 0x80) {
        length |= ((chunk[body++] as number) & 0x7f) << shift;
        shift += 7;
      }
      if (body >= chunk.length) break;
      length |= (chunk[body++] as number) << shift;
      if (body + length > chunk.length) break;
      if ((chunk[at] as number) >> 4 === 3) onAnswer(numberAt(chunk, body + 2 + chunk.readUInt16BE(body)));
      at = body + length;
    }
    rest = chunk.subarray(at);
  };
}

/** Connects as an MQTT client; resolves once it is let in. */
async function connect(port: number, name: string, subscribe?: string): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
  const parser = mqtt.parser();
  const answered = (cmd: string) =>
    new Promise<void>((resolve, reject) => {
      parser.on('packet', packet => packet.cmd === cmd && resolve());
      socket.once('close', () => reject(new Error('the gateway closed the connection')));
      socket.once('error', reject);
    });
  const parse = (chunk: Buffer) => parser.parse(chunk);
  socket.on('data', parse);
  const isIn = answered('connack');
  socket.write(
    mqtt.generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId: name,
      clean: true,
      keepalive: 0,
    }),
  );
  await isIn;
  if (subscribe !== undefined) {
    const isHeard = answered('suback');
    socket.write(mqtt.generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: subscribe, qos: 0 }] }));
    await isHeard;
  }
  socket.off('data', parse);
  return socket;
}

const frames = new Map<string, Buffer[]>();
function framesOf({ exchange, rules }: Drive): Buffer[] {
  const { inPrefix, inPayload } = EXCHANGES[exchange];
  let known = frames.get(exchange);
  if (!known) frames.set(exchange, (known = []));
  for (let i = known.length; i < rules; i++) {
    known.push(
      mqtt.generate({ cmd: 'publish', topic: inPrefix + i, payload: inPayload, qos: 0, retain: false, dup: false }),
    );
  }
  return known;
}

interface Line {
  send(frames: readonly Buffer[]): void;
  onAnswer: (rule: number) => void;
  end(): void;
}

async function open(drive: Drive): Promise<Line> {
  const name = `driver-${process.pid}-${drive.exchange}`;
  const out = await connect(
    drive.outOf,
    `${name}-out`,
    `${EXCHANGES[drive.exchange].outPrefix.replace(/[^/]*$/, '')}#`,
  );
  const into = await connect(drive.into, `${name}-in`);
  const line: Line = {
    send: list => void into.write(list.length === 1 ? (list[0] as Buffer) : Buffer.concat(list)),
    onAnswer: () => {},
    end() {
      out.destroy();
      into.destroy();
    },
  };
  out.on(
    'data',
    answersOf(rule => line.onAnswer(rule)),
  );
  return line;
}

/** A prime: it meets every rule before it meets one again. */
const STRIDE = 7_919;

let turn = 0;
/** All rules in turn, far from each other: the run of one is over long before its rule is asked again. */
function nextRule(below: number): number {
  turn = (turn + STRIDE) % (STRIDE * below);
  return turn % below;
}

async function load(drive: Load): Promise<number> {
  const all = framesOf(drive);
  const line = await open(drive);
  const expected: number[] = [];
  let sent = 0;
  let answered = 0;
  const began = performance.now();
  try {
    await new Promise<void>((resolve, reject) => {
      const stalled = setInterval(() => {
        if (answered === seenAt) reject(new Error(`only ${answered} of ${sent} events were answered`));
        seenAt = answered;
      }, STALL_MS);
      let seenAt = -1;
      const fill = () => {
        const batch: Buffer[] = [];
        while (sent < drive.events && sent - answered < drive.window) {
          const rule = nextRule(drive.rules);
          expected.push(rule);
          batch.push(all[rule] as Buffer);
          sent++;
        }
        if (batch.length > 0) line.send(batch);
      };
      let isFilling = false;
      line.onAnswer = rule => {
        if (rule !== expected[answered])
          return reject(new Error(`answer ${answered} is of rule ${rule}, not ${expected[answered]}`));
        answered++;
        if (answered === drive.events) {
          clearInterval(stalled);
          return resolve();
        }
        if (isFilling) return;
        isFilling = true;
        // After all answers of this read.
        queueMicrotask(() => {
          isFilling = false;
          fill();
        });
      };
      fill();
    });
  } finally {
    line.end();
  }
  return performance.now() - began;
}

async function pace(drive: Pace): Promise<{ p50: number; p99: number }> {
  const all = framesOf(drive);
  const line = await open(drive);
  const at: number[] = [];
  const late: number[] = [];
  line.onAnswer = () => late.push(performance.now() - (at[late.length] as number));
  const began = performance.now();
  const events = (drive.rate * drive.ms) / 1_000;
  while (at.length < events) {
    const due = Math.min(events, Math.floor(((performance.now() - began) * drive.rate) / 1_000));
    while (at.length < due) {
      at.push(performance.now());
      line.send([all[nextRule(drive.rules)] as Buffer]);
    }
    await pause(1);
  }
  const end = performance.now() + STALL_MS;
  while (late.length < at.length && performance.now() < end) await pause(5);
  line.end();
  if (late.length !== at.length) throw new Error(`${late.length} answers to ${at.length} events`);
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99) };
}

async function first(drive: First): Promise<number> {
  const [frame] = framesOf({ ...drive, rules: 1 }) as [Buffer];
  const end = performance.now() + FIRST_MS;
  for (;;) {
    if (performance.now() > end) throw new Error(`no rule has answered within ${FIRST_MS / 1_000} s`);
    const line = await open(drive).catch(() => undefined);
    if (!line) {
      await pause(10);
      continue;
    }
    const answered = new Promise<number>(resolve => {
      line.onAnswer = () => resolve(Date.now());
    });
    for (;;) {
      line.send([frame]);
      const at = await Promise.race([answered, pause(20)]);
      if (at === undefined) continue;
      line.end();
      return at;
    }
  }
}

serveRequests((request: Load | Pace | First) => {
  if (request.do === 'load') return load(request);
  return request.do === 'pace' ? pace(request) : first(request);
});
