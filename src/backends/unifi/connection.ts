// One connection to a console, from its start to the first trouble that lasts: a snapshot, then the socket and the polls that
// find what it did not tell.
import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { durationMs } from '../../lib/duration.ts';
import { asCausewayError, CausewayError, reasonOf } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import type { BackendSink } from '../../model/command.ts';
import type { Device } from '../../model/device.ts';
import type { Own } from './commands/guards.ts';
import type { Way } from './commands/index.ts';
import { type ConsoleClient, createClient, type Sessions } from './console/client.ts';
import type { Http } from './console/http.ts';
import { type LogMemory, noLog, pollLog } from './console/log-poll.ts';
import { type Probed, probe } from './console/probe.ts';
import { type Snapshot, takeSnapshot } from './console/snapshot.ts';
import { keepStream, type Stream } from './console/socket.ts';
import type { Counters } from './counters.ts';
import { type Flow, shownFlow } from './flows/flow.ts';
import { type FlowChoice, type FlowMemory, noFlows, pollFlows } from './flows/poll.ts';
import { RecentFlows } from './flows/recent.ts';
import { GONE_MS } from './network/absent.ts';
import { type ClientMemory, noClients } from './network/clients.ts';
import { createNetwork, type Network } from './network/network.ts';
import { createTold, type Told } from './network/told.ts';
import type { UnifiConfig } from './schema.ts';

/** What the backend needs. */
export interface UnifiParts {
  /** The first part of its devices' ids. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is remembered over connections. */
export interface Memory {
  readonly clients: ClientMemory;
  readonly log: LogMemory;
  readonly flows: FlowMemory;
  readonly recentFlows: RecentFlows;
  /** Since when its lists are empty that never are, elapsed ms. */
  emptySince: number | undefined;
  /** There was a connection before this one. */
  wasConnected: boolean;
  /** What was said once. */
  readonly said: Set<'insecure' | 'refused'>;
}

/** Nothing. */
export const nothingRemembered = (): Memory => ({
  clients: noClients(),
  log: noLog(),
  flows: noFlows(),
  recentFlows: new RecentFlows(),
  emptySince: undefined,
  wasConnected: false,
  said: new Set(),
});

/** What a connection needs. */
export interface ConnectionParts extends UnifiParts {
  readonly config: UnifiConfig;
  readonly counters: Counters;
  readonly memory: Memory;
  readonly sessions: Sessions;
  readonly http: Http;
  readonly sink: BackendSink;
  /** See `NetworkParts`. */
  readonly onConfigured: () => void;
}

/** What is known of a console, for those who look at it. */
export interface View {
  readonly network: Network;
  readonly probed: Probed;
  readonly client: ConsoleClient;
  /** Short name. */
  readonly site: string;
  /** Epoch ms by the console's clock. */
  readonly consoleNow: () => number;
  /** As it was told last. */
  readonly value: Told['value'];
  readonly values: Told['values'];
  readonly name: (id: string) => string;
  /** Devices of a kind: `wan`. */
  readonly ids: (kind: string) => string[];
}

/** Each so many looks are whole ones. */
const WHOLE_EVERY = 10;
/** Between two looks that are asked for out of turn. */
const SOON_MS = 2_000;

/** Opened once, closed once. */
export class Connection {
  readonly client: ConsoleClient;
  isReady = false;
  private readonly parts: ConnectionParts;
  private readonly ending = new AbortController();
  private readonly told: Told;
  private readonly openedAt: number;
  private opened: { readonly network: Network; readonly probed: Probed } | undefined;
  private stream: Stream | undefined;
  private hasSocketEvents = false;
  private looks = 0;
  /** One that has not begun yet finds all that another one after it would. */
  private isLookWaiting = false;
  private wantsWhole = false;
  private lastLook = Number.NEGATIVE_INFINITY;
  private cancelPoll: Cancel = () => {};
  private cancelSettle: Cancel = () => {};
  private cancelSoon: Cancel | undefined;
  private cancelLog: Cancel = () => {};
  private cancelFlows: Cancel = () => {};
  private cancelComplete: Cancel = () => {};
  /** Looks follow each other. */
  private work: Promise<void> = Promise.resolve();

  constructor(parts: ConnectionParts) {
    const { config, clock, counters, http, sessions, sink } = parts;
    this.parts = parts;
    const { signal } = this.ending;
    // Everything that waits listens to it.
    setMaxListeners(0, signal);
    this.client = createClient({ http, sessions, site: config.site, clock, counters, signal });
    this.told = createTold(sink, counters, () => clock.elapsed());
    this.openedAt = clock.elapsed();
  }

  /** What is known of the console; undefined before it is ready, and once it is lost. */
  get view(): View | undefined {
    if (!this.isReady || !this.opened) return undefined;
    const { told, client } = this;
    const { id: backend, config } = this.parts;
    return {
      ...this.opened,
      client,
      site: config.site,
      consoleNow: this.consoleNow,
      value: told.value,
      values: told.values,
      name: id => told.device(id)?.name ?? id,
      ids: kind => told.ids().filter(id => id.startsWith(`${backend}:${kind}:`)),
    };
  }

  /** Whether the console tells of changes by itself. */
  get isPushed(): boolean {
    return this.stream?.isOpen === true;
  }

  device(id: string): Device | undefined {
    return this.told.device(id);
  }

  /** What carrying a command out needs. */
  wayTo(network: Network, own: Own): Way {
    const { clock, counters } = this.parts;
    return { client: this.client, network, counters, clock, own };
  }

  /** @throws as `probe` and `takeSnapshot` */
  async open(): Promise<void> {
    const { id: backend, clock, config, counters, http, log, sessions, memory } = this.parts;
    const { client, told } = this;
    const { signal } = this.ending;
    const probed = await probe({ backend, site: config.site, client, http, signal, sessions, counters, log });
    const network = this.networkOf(probed);
    this.opened = { network, probed };
    const snapshot = await takeSnapshot({ ...this.parts, client }, true);
    this.refuseEmpty(snapshot);
    network.takeSnapshot(snapshot);
    if (this.ending.signal.aborted) return;
    // What is not in them now may be there all the same.
    const isPart = this.isYoung(probed, GONE_MS) || snapshot.devices.length === 0 || snapshot.users?.length === 0;
    await told.tellAll(!isPart);
    if (this.ending.signal.aborted) return;
    this.isReady = true;
    memory.wasConnected = true;
    if (isPart) this.cancelComplete = clock.after(GONE_MS, () => told.tellDevices());
    this.follow(network);
    this.pollLater();
  }

  /** Ends it; what is on its way is given up. */
  close(): void {
    this.isReady = false;
    const { cancelPoll, cancelSettle, cancelLog, cancelFlows, cancelSoon, cancelComplete } = this;
    const pending = [cancelPoll, cancelSettle, cancelLog, cancelFlows, cancelSoon, cancelComplete];
    for (const cancel of pending) cancel?.();
    this.stream?.close();
    this.ending.abort(new CausewayError('BACKEND_OFFLINE', `the connection to the console ${this.parts.id} has ended`));
  }

  /** It has just started: its lists may lack what is there. */
  private isYoung({ uptime }: Probed, ms: number): boolean {
    return uptime !== undefined && uptime * 1_000 < ms;
  }

  /** A console that knows of no device and no client is starting; after minutes it is believed. @throws BACKEND_OFFLINE */
  private refuseEmpty({ devices, users, stations }: Snapshot): void {
    const { clock, id, memory } = this.parts;
    if (devices.length > 0 || (users ?? stations).length > 0) {
      memory.emptySince = undefined;
      return;
    }
    memory.emptySince ??= clock.elapsed();
    if (clock.elapsed() - memory.emptySince >= GONE_MS) return;
    throw new CausewayError('BACKEND_OFFLINE', `the console ${id} lists neither devices nor clients: it is starting`, {
      hint: 'wait some minutes; if its own pages show them, check site in config.yaml',
    });
  }

  private networkOf(probed: Probed): Network {
    const { siteName, version } = probed;
    const { id: backend, config, counters, clock, log, memory, onConfigured } = this.parts;
    const graceMs = durationMs(config.away_after);
    // A console that has just started has seen nobody yet, and says nothing of what was before.
    const isYoung = this.isYoung(probed, graceMs);
    return createNetwork({
      backend,
      site: config.site,
      siteName,
      version,
      told: this.told,
      memory: memory.clients,
      log,
      counters,
      graceMs,
      knownForMs: durationMs(config.known_for),
      watchedSince: memory.wasConnected || isYoung ? this.openedAt : Number.NEGATIVE_INFINITY,
      elapsed: () => clock.elapsed(),
      consoleOffset: this.consoleOffset,
      onWan: () => this.lookSoon(),
      onConfigured,
    });
  }

  private readonly consoleNow = (): number => this.parts.clock.elapsed() + this.consoleOffset();

  private readonly consoleOffset = (): number => {
    const { clock } = this.parts;
    return this.client.consoleOffset() ?? clock.now() - clock.elapsed();
  };

  // --- events ----------------------------------------------------------------------------------------------------------

  private follow(network: Network): void {
    const { id: backend, config, clock, counters, http, log, memory, sessions } = this.parts;
    const session = sessions.login ?? sessions.key;
    if (!session) return;
    this.stream = keepStream({
      http,
      session,
      site: config.site,
      clock,
      counters,
      signal: this.ending.signal,
      onMessage: (kind, data) => {
        if (kind === 'events') this.hasSocketEvents = true;
        network.takeMessage(kind, data);
        this.settleLater(network);
        // What happened until now was told by it: the log must not tell it again when it is gone.
        if (this.hasSocketEvents) memory.log.startedAt = this.consoleNow();
      },
      // What happened since the snapshot, or while it was away, is found by a look.
      onOpen: () => this.look(),
      onGone: reason => log.info({ backend, reason }, 'the console’s stream of events is gone; it is opened anew'),
      onRefused: () => {
        if (!memory.said.has('refused')) {
          log.warn(
            { backend },
            'the console does not open its stream of events to us: add login to this backend; until then events come with the polls',
          );
        }
        memory.said.add('refused');
      },
    });
    if (config.flows !== 'off') this.cancelFlows = this.followFlows(network, config.flows);
    this.cancelLog = pollLog({
      backend,
      client: this.client,
      clock,
      counters,
      log,
      memory: memory.log,
      consoleNow: this.consoleNow,
      isNeeded: () => !(this.stream?.isOpen && this.hasSocketEvents),
      onRows: rows => {
        network.takeLog(rows);
        this.settleLater(network);
      },
    });
  }

  private followFlows(network: Network, choice: FlowChoice): Cancel {
    const { id: backend, config, clock, counters, log, memory, sink } = this.parts;
    // Its end is by the console's clock, which nobody else knows.
    const ageOf = ({ at = this.consoleNow() }: Flow) => Math.max(0, Math.round(this.consoleNow() - at));
    return pollFlows({
      backend,
      choice,
      client: this.client,
      clock,
      counters,
      log,
      memory: memory.flows,
      consoleNow: this.consoleNow,
      onFlow: flow => {
        const shown = shownFlow(flow);
        memory.recentFlows.tell(shown);
        sink.report({ type: 'flow', site: config.site, flow: { ...shown, age: ageOf(flow) } as unknown as Json });
      },
      onLost(count, window) {
        log.warn({ backend, count }, 'traffic flows came faster than they could be fetched');
        network.site.happen('flowsLost', { atLeast: count, ...window });
      },
    });
  }

  private settleLater(network: Network): void {
    const due = network.clients.settlesAt();
    if (due === undefined) return;
    this.cancelSettle();
    this.cancelSettle = this.parts.clock.after(due - this.parts.clock.elapsed(), () => {
      network.clients.settle();
      network.site.recount();
      this.settleLater(network);
    });
  }

  // --- looks ------------------------------------------------------------------------------------------------------------

  private pollLater(): void {
    const { clock, config } = this.parts;
    const now = clock.elapsed();
    const poll = durationMs(config.poll);
    // Nobody goes away but by a list, so that one is asked for when it may say so.
    const decides = this.opened?.network.clients.decidesAt() ?? Number.POSITIVE_INFINITY;
    const wait = Math.min(poll, Math.max(decides - now, SOON_MS));
    this.cancelPoll();
    this.cancelPoll = clock.after(wait, () => this.look());
  }

  /** Compares all with the console now, or in a moment if that was just done. @param whole with what changes seldom */
  lookSoon(whole = false): void {
    this.wantsWhole ||= whole;
    if (this.cancelSoon) return;
    const { clock } = this.parts;
    this.cancelSoon = clock.after(Math.max(0, this.lastLook + SOON_MS - clock.elapsed()), () => {
      this.cancelSoon = undefined;
      this.look();
    });
  }

  private look(): void {
    const { clock } = this.parts;
    this.lastLook = clock.elapsed();
    this.cancelPoll();
    if (this.isLookWaiting) return;
    this.isLookWaiting = true;
    this.work = this.work.then(async () => {
      this.isLookWaiting = false;
      const { signal } = this.ending;
      const network = this.opened?.network;
      if (signal.aborted || !network) return;
      try {
        const isWhole = ++this.looks % WHOLE_EVERY === 0 || this.wantsWhole;
        this.wantsWhole = false;
        const snapshot = await takeSnapshot({ ...this.parts, client: this.client }, isWhole);
        if (signal.aborted) return;
        this.refuseEmpty(snapshot);
        network.takeSnapshot(snapshot);
        this.settleLater(network);
        this.pollLater();
      } catch (error) {
        this.lost(asCausewayError(error));
      }
    });
  }

  private lost(error: CausewayError): void {
    if (this.ending.signal.aborted) return;
    this.isReady = false;
    this.parts.sink.offline(reasonOf(error));
  }
}
