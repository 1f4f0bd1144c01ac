// One connection to a hub, from its start to the first trouble: the events that come in, a snapshot at the start and after
// each gap, a poll that finds what was missed.
import { setMaxListeners } from 'node:events';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { durationMs } from '../../lib/duration.ts';
import { asCausewayError, CausewayError, reasonOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { BackendSink } from '../../model/command.ts';
import { type ClientParts, createClient, type HubClient } from './client.ts';
import { type EventListener, type EventSource, openEventSocket } from './eventsocket.ts';
import { createKnown, type Known } from './known.ts';
import { openListener } from './listener.ts';
import type { LiveSocket } from './live-socket.ts';
import { followLog } from './logsocket.ts';
import type { Pages } from './pages.ts';
import { createRunMethod, type RunMethod } from './runmethod.ts';
import { createSelection, type Selection } from './selection.ts';
import { type Learned, type Snapshot, takeSnapshot } from './snapshot.ts';
import type { HubEvent } from './wire.ts';

/** What the backend needs. */
export interface HubitatParts {
  /** The first part of its devices' ids. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The gateway listens on loopback only, where no hub reaches it: `events: auto` means the eventsocket then. */
  readonly isLoopbackOnly: boolean;
}

/** What a connection needs. */
export interface ConnectionParts extends HubitatParts, Omit<ClientParts, 'signal'> {
  readonly pages: Pages;
  readonly learned: Learned;
  readonly sink: BackendSink;
}

/** After an event of an unknown device the list is asked for, but no sooner than this after the last time. */
const REFRESH_MS = 30_000;

/** Opened once, closed once. */
export class Connection {
  readonly client: HubClient;
  readonly runMethod: RunMethod;
  readonly known: Known;
  isReady = false;
  private readonly parts: ConnectionParts;
  private readonly ending = new AbortController();
  private readonly usesListener: boolean;
  private readonly selection: Selection;
  private source: EventSource | undefined;
  private log: LiveSocket | undefined;
  /** Events that wait while a snapshot is told; undefined while they are told at once. */
  private held: HubEvent[] | undefined = [];
  private hasPushed = false;
  private lastLook = Number.NEGATIVE_INFINITY;
  private cancelPoll: Cancel = () => {};
  private cancelLook: Cancel | undefined;
  /** Snapshots and polls follow each other. */
  private work: Promise<void> = Promise.resolve();

  constructor(parts: ConnectionParts) {
    const { config, counters, id, learned, sink } = parts;
    this.parts = parts;
    this.usesListener = config.events === 'listener' || (config.events === 'auto' && !parts.isLoopbackOnly);
    const { signal } = this.ending;
    // Everything that waits listens to it.
    setMaxListeners(0, signal);
    this.client = createClient({ ...parts, signal });
    this.selection = createSelection({ ...parts, signal }, this.client);
    this.runMethod = createRunMethod({ ...parts, signal, selection: this.selection });
    this.known = createKnown(id, sink, counters, told => {
      learned.scale ??= told;
      return config.temperature_scale === 'auto' ? learned.scale : config.temperature_scale;
    });
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED, PORT_IN_USE */
  async open(): Promise<void> {
    // Events first: what happens while the snapshot is taken must not be lost.
    this.source = await this.openSource();
    if (this.ending.signal.aborted) return this.source.close();
    const mark = this.known.mark();
    const snapshot = await this.snapshot();
    await this.tellAll(snapshot, mark);
    if (this.ending.signal.aborted) return;
    this.follow();
    this.pollLater();
  }

  /** Ends it; what is on its way is given up. */
  async close(): Promise<void> {
    this.isReady = false;
    this.cancelPoll();
    this.cancelLook?.();
    this.ending.abort(new CausewayError('BACKEND_OFFLINE', `the connection to the hub ${this.parts.id} has ended`));
    this.log?.close();
    await this.source?.close();
  }

  private async openSource(): Promise<EventSource> {
    const { config, clock, counters, learned, log, id } = this.parts;
    const { client, ending } = this;
    const listener: EventListener = {
      onEvent: event => this.onEvent(event),
      onGap: () => this.resync('the eventsocket was away'),
      onLost: reason => this.lost(new CausewayError('BACKEND_OFFLINE', reason)),
    };
    if (this.usesListener) {
      return openListener({ ...this.parts, client, listener, signal: ending.signal });
    }
    if (config.events === 'auto' && !learned.done.has('way')) {
      learned.done.add('way');
      log.info(
        { backend: id },
        'the gateway is on loopback only, where the hub cannot reach it: its events come over the eventsocket',
      );
    }
    return openEventSocket(client.origin, { clock, counters, listener });
  }

  private async snapshot(): Promise<Snapshot> {
    const { id, config, clock, counters, log, learned } = this.parts;
    const at = clock.elapsed();
    const snapshot = await takeSnapshot({ backend: id, config, client: this.client, counters, log, learned });
    this.selection.listed(at);
    return snapshot;
  }

  private async tellAll(snapshot: Snapshot, mark: number): Promise<void> {
    const { sink } = this.parts;
    this.held ??= [];
    sink.online();
    await this.known.tellAll(snapshot, mark);
    if (this.ending.signal.aborted) return;
    sink.ready();
    this.isReady = true;
    // They happened, and are no part of the snapshot: a button press must reach the rules.
    const { held } = this;
    this.held = undefined;
    for (const event of held) this.onEvent(event);
  }

  private onEvent(event: HubEvent): void {
    if (this.ending.signal.aborted) return;
    this.hasPushed = true;
    if (this.held) {
      this.held.push(event);
      return;
    }
    const taken = this.known.take(event);
    if (taken === 'restarted') this.resync('the hub has started');
    if (taken === 'rescaled') this.resync('its temperatures are in another scale than was taken');
    // The Maker API posts events of selected devices alone: this one was selected since. The eventsocket tells of all.
    if (taken === 'unknown' && (this.usesListener || event.of === 'location')) this.lookSoon();
  }

  // --- snapshots and polls -----------------------------------------------------------------------------------------

  /** A whole snapshot, as after a start. */
  private resync(reason: string): void {
    this.parts.log.info({ backend: this.parts.id, reason }, 'the hub is read anew');
    this.inTurn(async () => {
      const mark = this.known.mark();
      const snapshot = await this.snapshot();
      await this.tellAll(snapshot, mark);
    });
  }

  private pollLater(): void {
    this.cancelPoll();
    this.cancelPoll = this.parts.clock.after(durationMs(this.parts.config.poll), () => {
      this.look();
      this.pollLater();
    });
  }

  /** What a command met with: a hub that is gone shows by this first, where it pushes its events. */
  suspect(error: CausewayError): void {
    if (error.code === 'BACKEND_AUTH') this.lost(error);
    else this.lookSoon();
  }

  /** Compares all with the hub now; or, where that was just done, once it may be done again. */
  private lookSoon(): void {
    if (this.ending.signal.aborted) return;
    const { clock } = this.parts;
    this.cancelLook ??= clock.after(Math.max(0, this.lastLook + REFRESH_MS - clock.elapsed()), () => this.look());
  }

  /** Compares all with the hub. */
  private look(): void {
    this.cancelLook?.();
    this.cancelLook = undefined;
    this.lastLook = this.parts.clock.elapsed();
    this.inTurn(async () => {
      const hadPushed = this.hasPushed;
      this.hasPushed = false;
      const mark = this.known.mark();
      const snapshot = await this.snapshot();
      if (this.ending.signal.aborted) return;
      const missed = await this.known.tellNews(snapshot, mark);
      if (missed > 0) await this.onMissed(missed, hadPushed);
    });
  }

  private async onMissed(missed: number, hadPushed: boolean): Promise<void> {
    const { log, id } = this.parts;
    if (hadPushed || !this.usesListener) {
      log.info({ backend: id, missed }, 'a poll found values whose events were lost');
      return;
    }
    log.warn(
      { backend: id, missed },
      'the hub’s events do not arrive: see that it reaches listen.host and listen.port (or set listen.url), or set events to eventsocket',
    );
    // The hub forgets the address, or has another one, after some updates.
    await this.source?.renew();
  }

  private inTurn(task: () => Promise<void>): void {
    this.work = this.work.then(async () => {
      if (this.ending.signal.aborted) return;
      try {
        await task();
      } catch (error) {
        this.lost(asCausewayError(error));
      }
    });
  }

  private lost(error: CausewayError): void {
    if (this.ending.signal.aborted) return;
    this.isReady = false;
    this.parts.sink.offline(reasonOf(error), error.code);
  }

  private follow(): void {
    const { id, config, clock, sink } = this.parts;
    if (config.logs === 'off') return;
    this.log = followLog(this.client.origin, {
      backend: id,
      clock,
      from: config.logs,
      report: report => sink.report(report),
    });
  }
}
