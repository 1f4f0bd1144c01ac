// Kills the real gateway (-9) at random moments, again and again, over a house of rules that hold, wait, queue, repeat,
// count and send, and looks whether anything was lost or happened twice.
//   npx tsx test/e2e/kill-loop.ts [rounds] [seed]
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { seededRandom } from '../../src/lib/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, gatewayKit } from '../kit/gateway-process.ts';
import { type Receiver, startReceiver } from '../kit/receiver.ts';

/** What a loop found. */
export interface KillReport {
  readonly rounds: number;
  /** Kills before the gateway was ready. */
  readonly killedEarly: number;
  /** What was acknowledged, by kind. */
  readonly acknowledged: Record<string, number>;
  /** Asked for, and not answered when the process died: each happened once or not at all. */
  readonly unanswered: number;
  /** Requests that ended in doubt, on their way when the process died. */
  readonly inDoubt: number;
  /** What must not be; empty. */
  readonly violations: string[];
}

/** Kinds that a client asks for by `run_rule`, and the marks that one of them leaves. */
const ASKED: Record<string, (id: string) => string[]> = {
  delay: id => [id],
  queue: id => [id],
  repeat: id => [1, 2, 3, 4].map(index => `${id}:${index}`),
  wait: id => [id],
  add: () => [],
};

const REPEATED_MS = 80;
const HOLD_MS = 700;
const FINISH_MS = 30_000;

function houseOf(receiver: Receiver) {
  const mark = (name: string, what: string) => ({ type: 'set_variable', name, append: what });
  const send = (path: string) => ({ type: 'http', method: 'POST', url: `${receiver.url}${path}` });
  const asked = { triggers: [{ type: 'webhook', id: 'nobody' }], limits: { runs: 100_000, per: '1h' } };
  const after = { type: 'delay', for: { expr: 'args.ms' } };
  const parallel = { mode: { type: 'parallel', max: 500 } };
  const rules = {
    hold: {
      ...parallel,
      limits: asked.limits,
      triggers: [
        { type: 'state', device: { capability: 'contact' }, attribute: 'contact', to: 'open', for: `${HOLD_MS}ms` },
      ],
      actions: [mark('hold', '{{ trigger.device }}'), send('/hold/{{ trigger.device }}')],
    },
    delay: { ...asked, ...parallel, actions: [after, mark('delay', '{{ args.id }}'), send('/delay/{{ args.id }}')] },
    queue: {
      ...asked,
      mode: { type: 'queued', max: 500 },
      actions: [{ type: 'delay', for: '60ms' }, mark('queue', '{{ args.id }}'), send('/queue/{{ args.id }}')],
    },
    repeat: {
      ...asked,
      ...parallel,
      actions: [
        {
          type: 'repeat',
          count: 4,
          do: [{ type: 'delay', for: `${REPEATED_MS}ms` }, mark('repeat', '{{ args.id }}:{{ repeat.index }}')],
        },
      ],
    },
    wait: {
      ...asked,
      ...parallel,
      actions: [
        { type: 'wait_for', until: { type: 'mode', is: 'away' }, timeout: '400ms' },
        mark('wait', '{{ args.id }}'),
      ],
    },
    add: { ...asked, ...parallel, actions: [{ type: 'set_variable', name: 'add', add: 1 }] },
  };
  const variables = Object.fromEntries(
    Object.keys(rules).map(kind => [
      kind,
      kind === 'add' ? { type: 'number', initial: 0 } : { type: 'json', initial: [] },
    ]),
  );
  return {
    config: { security: { egress: { allow: ['127.0.0.1'] } }, rules: { traces: 1_000 } },
    house: { variables },
    rules: Object.fromEntries(Object.entries(rules).map(([id, rule]) => [`${id}.yaml`, { id, name: id, ...rule }])),
  };
}

/** Something that was asked for. */
interface Asked {
  readonly kind: string;
  readonly id: string;
  readonly at: number;
  readonly ms: number;
  /** The gateway said that it is so. */
  isAcknowledged: boolean;
  run?: string;
}

/** Runs the loop. @param say hears of each round */
export async function killLoop(
  rounds: number,
  seed: number,
  say: (line: string) => void = () => {},
): Promise<KillReport> {
  const random = seededRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low));
  const kit = gatewayKit();
  const receiver = await startReceiver();
  const asked: Asked[] = [];
  let killedEarly = 0;
  try {
    const home = kit.home(houseOf(receiver));
    for (let round = 0; round < rounds; round++) {
      if (random() < 0.25) {
        const child = kit.launch(home);
        await pause(between(200, 1_800));
        await child.kill();
        killedEarly++;
      }
      const gateway = await kit.start(home);
      const life = setGoing(gateway, asked, round, between);
      await pause(between(150, 900));
      await gateway.kill();
      await life;
      say(`round ${round + 1}: ${asked.length} asked for, ${receiver.deliveries.length} requests sent`);
    }
    return { ...(await judge(await finish(kit.start(home), asked), asked, receiver)), rounds, killedEarly };
  } finally {
    await kit.end();
    await receiver.stop();
  }
}

/** Asks for one thing after the other, some at once, until the gateway is gone. */
async function setGoing(
  gateway: GatewayProcess,
  asked: Asked[],
  round: number,
  between: (low: number, high: number) => number,
): Promise<void> {
  const kinds = [...Object.keys(ASKED), 'hold'];
  const one = async (n: number) => {
    const kind = kinds[between(0, kinds.length)] as string;
    const id = `${round}-${n}`;
    const entry: Asked = {
      kind,
      id: kind === 'hold' ? `virtual:${id}` : id,
      at: Date.now(),
      ms: kind === 'hold' ? HOLD_MS : between(50, 1_500),
      isAcknowledged: false,
    };
    if (kind === 'hold') {
      await gateway.call('create_device', { name: id, capabilities: ['contact'], values: { contact: 'closed' } });
      asked.push(entry);
      await gateway.call('set_device_value', { device: entry.id, attribute: 'contact', value: 'open' });
    } else {
      asked.push(entry);
      const { run, refused } = await gateway.call('run_rule', { id: kind, args: { id, ms: entry.ms } });
      if (refused) throw new Error(`${kind} ${id} was refused: ${refused}`);
      entry.run = run;
    }
    entry.isAcknowledged = true;
  };
  // Three strands: their requests meet in one turn, and some are on their way when the process dies.
  let n = 0;
  const strand = async () => {
    for (;;) {
      await one(n++);
      await pause(between(0, 30));
    }
  };
  const ends = await Promise.allSettled([strand(), strand(), strand()]);
  for (const end of ends) if (end.status === 'rejected' && /was refused/.test(String(end.reason))) throw end.reason;
}

/** A last life, in which all that waits comes to its end. */
async function finish(starting: Promise<GatewayProcess>, asked: Asked[]): Promise<GatewayProcess> {
  const gateway = await starting;
  const holds = asked.filter(each => each.kind === 'hold' && each.isAcknowledged);
  await eventually(
    async () => {
      const { running } = await gateway.call('get_system');
      const held = new Set((await variables(gateway)).hold as string[]);
      return running === 0 && holds.every(hold => held.has(hold.id));
    },
    'the end of all runs and holds',
    FINISH_MS,
  ).catch(() => {});
  return gateway;
}

async function variables(gateway: GatewayProcess): Promise<Record<string, unknown>> {
  const { variables: all } = await gateway.call('list_variables');
  return Object.fromEntries(all.map(({ name, value }: { name: string; value: unknown }) => [name, value]));
}

async function judge(
  gateway: GatewayProcess,
  asked: Asked[],
  receiver: Receiver,
): Promise<Omit<KillReport, 'rounds' | 'killedEarly'>> {
  const violations: string[] = [];
  const marks = await variables(gateway);
  const { running } = await gateway.call('get_system');
  if (running !== 0) violations.push(`${running} runs never ended`);

  for (const kind of [...Object.keys(ASKED), 'hold']) {
    const mine = asked.filter(each => each.kind === kind);
    const acknowledged = mine.filter(each => each.isAcknowledged);
    if (kind === 'add') {
      const sum = marks.add as number;
      if (sum < acknowledged.length || sum > mine.length)
        violations.push(`add: ${sum} of ${acknowledged.length} to ${mine.length}`);
      continue;
    }
    const left = marks[kind] as string[];
    const marksOf = ASKED[kind] ?? ((id: string) => [id]);
    const known = new Set(mine.flatMap(({ id }) => marksOf(id)));
    for (const mark of new Set(left)) {
      const times = left.filter(each => each === mark).length;
      if (times > 1) violations.push(`${kind} ${mark}: ${times} times`);
      if (!known.has(mark)) violations.push(`${kind} ${mark}: nobody asked for it`);
    }
    for (const { id, isAcknowledged } of mine) {
      const wanted = marksOf(id);
      const found = left.filter(mark => wanted.includes(mark));
      // What was begun is done to the end, whether its acknowledgement got through or not.
      if (found.length < wanted.length && (isAcknowledged || found.length > 0))
        violations.push(`${kind} ${id}: lost (${found.join(', ')})`);
      if (found.join() !== found.toSorted().join())
        violations.push(`${kind} ${id}: out of order (${found.join(', ')})`);
    }
  }
  const queued = (marks.queue as string[])
    .map(id => asked.find(each => each.kind === 'queue' && each.id === id)?.run ?? '')
    .filter(Boolean);
  if (queued.join() !== queued.toSorted().join()) violations.push('the queue was not in order');

  return { ...(await judgeSent(gateway, asked, receiver, violations)), violations };
}

/** Requests: none twice, none early, and where one is missing its run says in doubt. */
async function judgeSent(gateway: GatewayProcess, asked: Asked[], receiver: Receiver, violations: string[]) {
  let inDoubt = 0;
  for (const { kind, id, at, ms, run } of asked) {
    if (!['hold', 'delay', 'queue'].includes(kind)) continue;
    const sent = receiver.to(`/${kind}/${id}`);
    if (sent.length > 1) violations.push(`${kind} ${id}: sent ${sent.length} times`);
    const [first] = sent;
    if (first && kind !== 'queue' && first.at < at + ms - 20)
      violations.push(`${kind} ${id}: ${at + ms - first.at} ms early`);
    if (first || run === undefined) continue;
    // Traces are stored a moment later than their runs end: of one that ended right before a kill there may be none.
    const trace = await gateway.call('get_run', { run }).catch(() => undefined);
    if (trace === undefined || trace.outcome === 'in_doubt') inDoubt++;
    else violations.push(`${kind} ${id}: not sent, though its run is ${trace.outcome}`);
  }
  const acknowledged: Record<string, number> = {};
  for (const { kind, isAcknowledged } of asked) if (isAcknowledged) acknowledged[kind] = (acknowledged[kind] ?? 0) + 1;
  return { acknowledged, unanswered: asked.filter(each => !each.isAcknowledged).length, inDoubt };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [rounds = '50', seed = String(Date.now() % 100_000)] = process.argv.slice(2);
  console.log(`${rounds} rounds with seed ${seed}`);
  const report = await killLoop(Number(rounds), Number(seed), line => console.log(line));
  console.log(JSON.stringify(report, null, 2));
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}
