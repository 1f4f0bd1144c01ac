// The composition root: builds the parts, starts them in order, stops them in reverse.
import { join } from 'node:path';
import { map, Subject } from 'rxjs';
import { HouseBackend } from './backends/house/index.ts';
import { stopInReverse, supervise } from './backends/supervisor.ts';
import { VirtualBackend } from './backends/virtual/index.ts';
import { Face } from './bus/face.ts';
import { topicsOf } from './bus/topics.ts';
import type { House as HouseFile } from './config/house.ts';
import type { Config } from './config/schema.ts';
import { checkRule } from './engine/analysis/check.ts';
import { Engine } from './engine/engine.ts';
import { Rulebook } from './engine/rules/rulebook.ts';
import { skewOf } from './engine/stored.ts';
import { isLoopback } from './http/auth.ts';
import { createHttp, type Http } from './http/server.ts';
import type { Clock } from './lib/clock.ts';
import { durationMs } from './lib/duration.ts';
import { CausewayError } from './lib/errors.ts';
import type { Log } from './lib/log.ts';
import { createMcp } from './mcp/server.ts';
import type { Backend } from './model/command.ts';
import type { Json } from './model/value.ts';
import { bindOps } from './ops/bind.ts';
import { authorityOf, authorityOfRole, type Gateway } from './ops/gateway.ts';
import { showEvent } from './ops/show.ts';
import { egressOf } from './policy/egress.ts';
import { openPrincipals } from './policy/principals.ts';
import { Devices } from './state/devices.ts';
import { House } from './state/house.ts';
import { Values } from './state/values.ts';
import { openJournal } from './store/journal.ts';
import { lockDataDir } from './store/lock.ts';
import { sqliteStore } from './store/sqlite.ts';
import { bridgesOf, hookOf } from './wiring/bridges.ts';
import { listenMqtt } from './wiring/broker.ts';
import { makeBus } from './wiring/bus.ts';
import { hearOutsiders } from './wiring/bus-inputs.ts';
import { effectsOf } from './wiring/effects.ts';
import { notifySender } from './wiring/notify.ts';
import { publishInfo, publishPresent, ruleStateFor } from './wiring/present.ts';
import { RecentEvents } from './wiring/recent.ts';
import { sinksOf } from './wiring/sinks.ts';
import { furnish, surroundingsOf } from './wiring/surroundings.ts';
import { viewsOf } from './wiring/views.ts';
import { virtualDevices, virtualRows } from './wiring/virtual-rows.ts';
import { simulatorOf } from './world/simulate.ts';
import { testFindings } from './world/test-findings.ts';

/** What a gateway is started with. */
export interface AppOptions {
  readonly version: string;
  readonly config: Config;
  readonly house: HouseFile;
  readonly clock: Clock;
  readonly log: Log;
  readonly adminToken?: string | undefined;
  readonly isDemo: boolean;
  /** A container's first start: an admin is made and his token told once, since loopback inside it is of no use. */
  readonly onFirstToken?: ((token: string) => void) | undefined;
  /** A taken port: the next free one instead of an error (the demo). */
  readonly mayMove: boolean;
  /** Called once the parts exist and before the backends start: the demo furnishes its house. */
  readonly prepare?: (parts: { virtual: VirtualBackend; gateway: Gateway }) => Promise<void>;
}

/** A running gateway. */
export interface App {
  readonly gateway: Gateway;
  readonly addresses: { http: string; mqtt: string | undefined };
  stop(): Promise<void>;
}

type Stop = () => Promise<unknown> | unknown;

/** Starts a gateway. @throws CausewayError ALREADY_RUNNING, DATA_UNWRITABLE, DATABASE_NEWER, PORT_IN_USE, CONFIG_INVALID */
export async function startApp(options: AppOptions): Promise<App> {
  const stops: Stop[] = [];
  const stop = async () => {
    for (const part of stops.splice(0).reverse()) {
      try {
        await part();
      } catch (error) {
        options.log.error({ error: String(error) }, 'a part did not stop cleanly');
      }
    }
  };
  try {
    return { ...(await build(options, part => void stops.push(part))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param onStop what is given last is stopped first */
async function build(options: AppOptions, onStop: (stop: Stop) => void): Promise<Omit<App, 'stop'>> {
  const { config, house: houseFile, clock, version } = options;
  const log = options.log;
  const area = (name: string) => log.child({ area: name });
  const dir = config.data.dir;
  const startedAt = clock.now();
  const lock = lockDataDir(dir, { startedAt, addresses: [] });
  onStop(() => lock.release());

  const store = await sqliteStore({
    path: join(dir, 'causeway.db'),
    traces: { perRule: config.rules.traces, total: 20_000 },
  });
  onStop(() => store.close());
  const { tables, corrupt } = await store.load();
  // Apart: what closures mention lives as long as the gateway, and must not be all tables.
  const { meta, principals: storedPrincipals, virtual: storedVirtual } = tables;
  for (const row of corrupt) area('store').warn(row, 'a row could not be read; it lies in quarantine');
  const journal = await openJournal({
    dir: join(dir, 'journal'),
    clock,
    log: area('journal'),
    keepDays: config.journal.days,
    keepMegabytes: config.journal.megabytes,
  });
  onStop(() => journal.close());
  let onPrincipals = () => {};
  const principals = await openPrincipals({
    load: async () => storedPrincipals,
    async save(name, row) {
      await store.commit([{ table: 'principals', key: name, value: row }], 'full');
      // The store of principals knows of it right after.
      clock.after(0, () => onPrincipals());
    },
    clock,
    adminToken: options.adminToken,
  });

  if (options.onFirstToken && principals.isOpen()) {
    await principals.add('admin', { role: 'admin' });
    options.onFirstToken((await principals.issueToken('admin', { label: 'first start' })).token);
  }

  const devices = new Devices();
  const values = new Values();
  const house = new House();
  const surroundings = surroundingsOf(config, houseFile, meta);
  const topics = topicsOf(config.mqtt.root);
  const recent = new RecentEvents(clock);
  const updated$ = new Subject<string>();
  const listChanged$ = new Subject<void>();

  // --- the bus ---
  const made = await makeBus(config.mqtt, {
    clock,
    area,
    topics,
    principals,
    file: join(dir, 'broker.db'),
  });
  onStop(() => made.stop());
  const { bus, embedded, hear } = made;
  onPrincipals = made.principalsChanged;
  let engine: Engine;
  let listenToTopics = () => {};
  const face = new Face({
    bus,
    topics,
    devices,
    values,
    later: call => setImmediate(call),
    toWall: at => engine.core.timeline.toWall(at),
  });

  // --- backends ---
  const rows = virtualRows({ loaded: storedVirtual, store, clock, log: area('virtual') });
  onStop(() => rows.stop());
  const virtual = new VirtualBackend({ clock, rows, log: area('virtual') });
  const houseBackend = new HouseBackend({
    devices,
    values,
    clock,
    now: () => engine.core.timeline.now(),
    seq: () => engine.seq,
    config: houseFile as never,
  });
  const isLoopbackOnly = principals.isOpen() || isLoopback(config.http.host);
  const systems = bridgesOf(config.backends, { clock, area, isLoopbackOnly });
  const supervision = { clock, log: area('backends') };
  const backends = new Map<string, Backend>(
    [virtual, houseBackend, ...systems.values()].map(one => [one.id, supervise(one, supervision)]),
  );

  // --- the engine ---
  const ruleState = (id: string) => ruleStateFor(gateway, id);
  const suspended = () => [...engine.live.values()].filter(live => live.runtime.suspended).map(live => live.id);
  const egress = egressOf(config.security.egress.allow);
  const leaving = new AbortController();
  const { signal } = leaving;
  const notify = notifySender(houseFile, { engine: () => engine, bus, clock, log: area('notify'), egress, signal });
  const effects = effectsOf({
    bus: () => bus,
    topics,
    log: area('effects'),
    egress,
    answered: (id, answer) => engine.answered(id, answer),
    message: message => engine.message(message),
    notify,
    signal,
  });
  const { sinks, flush } = sinksOf(
    {
      face,
      journal,
      store,
      log: area('engine'),
      recent,
      updated$,
      listChanged$,
      now: () => clock.now(),
      ruleState,
      suspended,
      onRulesChanged: () => listenToTopics(),
      follow: event => houseBackend.onEvent(event),
      onEffect: effects,
      notifyGuard: (message, title) =>
        void notify({ type: 'notify', message, title, priority: 'high' }).catch(error =>
          log.warn({ error: String(error) }, 'the notice of the guard could not be sent'),
        ),
    },
    event => devices.get(event.device)?.attributes[event.attribute]?.telemetry === true,
    (ms, call) => void (signal.aborted || clock.after(ms, call)),
  );
  onStop(flush);
  onStop(() => leaving.abort());
  const owner = houseFile.modes?.owner;
  engine = new Engine(
    {
      clock,
      log: area('engine'),
      store,
      devices,
      values,
      house,
      backends,
      surroundings,
      settings: {
        guard: {
          runs: config.guard.runs,
          perMs: durationMs(config.guard.per),
          depth: config.guard.depth,
          descendants: config.guard.descendants,
        },
        readyTimeoutMs: 20_000,
        clockCheckMs: 10_000,
        fileAuthority: authorityOfRole('file', config.rules.authority),
      },
      sinks,
      deviceBudget: config.guard.device_commands,
      modeOwner: () =>
        owner === undefined || owner === 'own'
          ? undefined
          : { backend: owner, device: `${owner}:location`, command: 'setMode' },
      onDiscarded: (what, device, attribute, body) =>
        journal.append({ ts: clock.now(), seq: 0, kind: what, subject: device, attribute, body: JSON.stringify(body) }),
    },
    { skew: skewOf(meta) },
  );
  onStop(() => engine.stop());
  onStop(() => stopInReverse(backends.values(), supervision));
  furnish(houseFile, devices, house, engine.core.timeline.now());
  const rulebook = new Rulebook({
    dir: config.rules.dir,
    store,
    log: area('rules'),
    now: () => clock.now(),
    fileAuthority: authorityOfRole('file', config.rules.authority),
    check: rule => [
      ...checkRule(rule, {
        devices,
        house,
        place: surroundings.place,
        rules: [...engine.live.values()].map(live => live.rule),
      }),
      ...testFindings(rule),
    ],
    authorityOf: name => {
      const principal = principals.find(name) ?? principals.anonymous(true);
      return (
        principal && authorityOf({ principal: principal.name, scopes: principal.scopes, via: 'system', by: 'system' })
      );
    },
  });

  // --- operations and views ---
  const simulator = simulatorOf(clock);
  const addresses: { http?: string; mqtt?: string } = {};
  const gateway: Gateway = {
    version,
    clock,
    startedAt,
    isDemo: options.isDemo,
    engine,
    rulebook,
    store,
    journal,
    principals,
    backends,
    systems,
    virtual: virtualDevices(virtual, rows),
    addresses,
    recent,
    storeTraces: flush,
    simulate: request =>
      simulator(request, {
        house: JSON.parse(JSON.stringify(houseFile)),
        ...(surroundings.place && { location: { ...surroundings.place, timezone: surroundings.zone } }),
      }),
  };
  const switches = { reads: config.security.reads, writes: config.security.writes, ops: config.security.ops };
  const ops = bindOps(gateway, switches, error => log.warn({ error: String(error) }, 'the audit could not be written'));
  const views = viewsOf({
    gateway,
    ops,
    bus,
    updated$,
    listChanged$,
    brokerCounters: () => embedded?.broker.counters(),
  });
  const mcp = createMcp({
    views,
    clock,
    log: area('mcp'),
    limits: { maxSessions: config.mcp.sessions, idleMs: durationMs(config.mcp.session_idle) },
  });
  let http: Http | undefined;
  onStop(async () => {
    // Its streams would keep the server from closing.
    await mcp.stop();
    await http?.stop();
  });
  http = await createHttp({
    views,
    config: config.http,
    principals,
    clock,
    log: area('http'),
    ...(config.mcp.enabled && { mcp }),
    events$: recent.events$.pipe(map(event => showEvent(event) as never)),
    webhook: async call =>
      engine.webhook(call.id, {
        method: call.method,
        body: call.body as Json,
        query: call.query as Json,
        client: call.caller.principal,
        ...(call.caller.causeId !== undefined && { causeId: call.caller.causeId }),
      })
        ? 1
        : 0,
    systemHook: hookOf(systems),
    ...(embedded && { mqttUpgrade: (stream, request) => embedded.broker.handle(stream, request) }),
  });

  // --- start, in order ---
  await engine.start(await rulebook.load(), tables);
  rulebook.follow(engine);
  await options.prepare?.({ virtual, gateway });
  const parts = { gateway, face, topics, devices, house, engine, suspended };
  const present = () => publishPresent(parts);
  listChanged$.subscribe(() => publishInfo(parts));
  const outsiders = hearOutsiders({ ops, engine, face, topics, principals, log: area('bus') });
  hear(outsiders, present);
  listenToTopics = () => bus.listen(engine.rules.listenedTopics());
  listenToTopics();
  const heldHttp = await http.listen().catch(error => {
    if (options.mayMove && error instanceof CausewayError && error.code === 'PORT_IN_USE') return http.listen(0);
    throw error;
  });
  addresses.http = heldHttp.url;
  if (embedded)
    addresses.mqtt = await listenMqtt(embedded.broker, config.mqtt, principals, {
      mayMove: options.mayMove,
      log: area('broker'),
    });
  lock.tell(Object.values(addresses).filter(address => address !== undefined));
  for (const backend of backends.values()) {
    const sink = engine.sink(backend.id);
    // The house derives from the others, and so is ready after them.
    const ready = () => {
      sink.ready();
      if (backend.id !== houseBackend.id) void engine.do(() => {}).then(() => houseBackend.settle());
    };
    await backend.start({ ...sink, ready });
  }
  present();
  onStop(() => {
    face.bridge('offline', engine.core.boot);
    recent.events$.complete();
  });
  onStop(() => rulebook.stop());
  rulebook.watch();

  return { gateway, addresses: { http: heldHttp.url, mqtt: addresses.mqtt } };
}
