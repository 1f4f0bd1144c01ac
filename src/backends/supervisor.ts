// Keeps one backend running and its troubles to itself: starting again with back-off, a watchdog for silence, a circuit
// for devices that do not answer. What it gives is a Backend again, so nobody else needs to know.
import type { Cancel, Clock } from '../lib/clock.ts';
import { asCausewayError, CausewayError, hasCode, reasonOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Backend, BackendSink, Command, SystemBackup } from '../model/command.ts';
import type { Hook } from '../model/hook.ts';

/** A backend, with what it asks of its supervisor. */
export interface Supervised extends Backend {
  /** After `offline` it wants to be stopped and started anew; without, it reconnects by itself. */
  readonly restartWhenOffline?: boolean;
  /** Once online, a sink that hears nothing for this long (ms) means a dead stream: it is started anew. */
  readonly silentAfterMs?: number;
  /** Takes webhooks of its system, where it is set up for them. */
  readonly hook?: Hook | undefined;
}

/** What supervision needs. */
export interface SupervisionParts {
  readonly clock: Clock;
  readonly log: Log;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
const SHORTEST_WAIT_MS = 100;
/** Refused credentials are not offered again within a minute, whatever chance says. */
const SHORTEST_WAIT_REFUSED_MS = 90_000;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
const BACKUPS_TIMEOUT_MS = 30_000;
/** A large hub takes minutes over its database. */
const BACKUP_TIMEOUT_MS = 600_000;
/** A connection that lasted this long was a good one: the next failure begins with a short wait. */
const STABLE_MS = 60_000;
/** Timeouts in a row after which a device is not asked for a while. */
const TIMEOUTS_TO_OPEN = 3;
const OPEN_MS = 30_000;

/** Supervises a backend. `start` returns at once and never rejects; the sink hears how it goes. */
export function supervise(backend: Supervised, parts: SupervisionParts): Backend {
  return new Supervisor(backend, parts);
}

/** Stops backends one after the other, the last started first; none can hold the others up for long. */
export async function stopInReverse(backends: Iterable<Backend>, parts: SupervisionParts): Promise<void> {
  for (const backend of [...backends].reverse()) await stopQuietly(backend, parts);
}

async function stopQuietly(backend: Backend, { clock, log }: SupervisionParts): Promise<void> {
  try {
    await within(clock, STOP_TIMEOUT_MS, backend.stop(), `${backend.id} did not stop in time`);
  } catch (error) {
    log.warn({ backend: backend.id, error: messageOf(error) }, 'a backend did not stop cleanly');
  }
}

/** One life of a backend: what an ended one still says is not heard. */
interface Life {
  isOver: boolean;
  onlineSince: number | undefined;
  lastHeard: number;
  cancelWatch: Cancel;
}

interface Circuit {
  timeouts: number;
  /** Elapsed ms until which commands are refused; undefined while it is closed. */
  openUntil?: number;
}

class Supervisor implements Backend {
  readonly id: string;
  readonly kind: string;
  private readonly backend: Supervised;
  private readonly parts: SupervisionParts;
  private sink: BackendSink | undefined;
  private life: Life | undefined;
  private failures = 0;
  private cancelRetry: Cancel = () => {};
  // By device and not for the whole: one dead lamp must not keep a person from the others.
  private readonly circuits = new Map<string, Circuit>();
  // Only where the backend has them: who asks sees at once what it can do.
  readonly backups?: (signal: AbortSignal) => Promise<readonly SystemBackup[]>;
  readonly backup?: (signal: AbortSignal) => Promise<SystemBackup>;

  constructor(backend: Supervised, parts: SupervisionParts) {
    this.id = backend.id;
    this.kind = backend.kind;
    this.backend = backend;
    this.parts = parts;
    const { backups, backup } = backend;
    if (backups) this.backups = signal => this.limited(BACKUPS_TIMEOUT_MS, signal, own => backups.call(backend, own));
    if (backup) this.backup = signal => this.limited(BACKUP_TIMEOUT_MS, signal, own => backup.call(backend, own));
  }

  /** A long task of the backend: ended with the caller's signal, and given up after `ms`. */
  private async limited<T>(ms: number, signal: AbortSignal, task: (own: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const own = new AbortController();
    const give = (reason: unknown) => own.abort(reason);
    const onAbort = () => give(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await within(this.parts.clock, ms, task(own.signal), `${this.id} did not answer in time`);
    } catch (error) {
      give(error);
      throw asCausewayError(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async start(sink: BackendSink): Promise<void> {
    this.sink = sink;
    this.failures = 0;
    void this.begin();
  }

  async stop(): Promise<void> {
    this.sink = undefined;
    this.cancelRetry();
    this.end();
    await stopQuietly(this.backend, this.parts);
  }

  test(): ReturnType<Backend['test']> {
    return this.backend.test();
  }

  private async begin(): Promise<void> {
    const { clock } = this.parts;
    const life: Life = { isOver: false, onlineSince: undefined, lastHeard: clock.elapsed(), cancelWatch: () => {} };
    this.life = life;
    try {
      const started = this.backend.start(this.sinkOf(life));
      await within(clock, START_TIMEOUT_MS, started, `${this.id} did not start in time`);
    } catch (error) {
      await this.fail(life, error);
    }
  }

  private end(): void {
    if (!this.life) return;
    this.life.isOver = true;
    this.life.cancelWatch();
    this.life = undefined;
  }

  /** Ends this life and begins another one after a wait with full jitter. */
  private async fail(life: Life, error: unknown): Promise<void> {
    if (life.isOver) return;
    const { clock, log, random = Math.random } = this.parts;
    if (life.onlineSince !== undefined && clock.elapsed() - life.onlineSince >= STABLE_MS) this.failures = 0;
    this.end();
    this.sink?.offline(reasonOf(asCausewayError(error)));
    await stopQuietly(this.backend, this.parts);
    if (!this.sink) return;
    // Wrong credentials do not get better by trying, and consoles lock accounts out for it.
    const isRefused = hasCode(error, 'BACKEND_AUTH');
    const longest = isRefused ? LONGEST_WAIT_MS : FIRST_WAIT_MS * 2 ** Math.min(this.failures++, 30);
    const shortest = isRefused ? SHORTEST_WAIT_REFUSED_MS : SHORTEST_WAIT_MS;
    const wait = Math.max(shortest, Math.round(random() * Math.min(longest, LONGEST_WAIT_MS)));
    log.warn({ backend: this.id, error: messageOf(error), nextTryMs: wait }, 'a backend is offline');
    this.cancelRetry = clock.after(wait, () => void this.begin());
  }

  private sinkOf(life: Life): BackendSink {
    const { clock, log } = this.parts;
    const heard = (tell: (sink: BackendSink) => void) => {
      if (life.isOver || !this.sink) return;
      life.lastHeard = clock.elapsed();
      try {
        tell(this.sink);
      } catch (error) {
        log.error({ backend: this.id, error: messageOf(error) }, 'what a backend told could not be taken');
      }
    };
    return {
      devices: devices => heard(sink => sink.devices(devices)),
      device: device => heard(sink => sink.device(device)),
      removed: id => heard(sink => sink.removed(id)),
      report: report => heard(sink => sink.report(report)),
      online: () => {
        heard(sink => sink.online());
        if (life.isOver) return;
        life.onlineSince = clock.elapsed();
        this.watch(life);
      },
      ready: () => heard(sink => sink.ready()),
      offline: (reason, code = 'BACKEND_OFFLINE') => {
        life.cancelWatch();
        if (this.backend.restartWhenOffline) void this.fail(life, new CausewayError(code, reason));
        else heard(sink => sink.offline(reason));
      },
    };
  }

  /** Sleeps until silence would be too long, and looks again if something was heard meanwhile. */
  private watch(life: Life): void {
    const { silentAfterMs } = this.backend;
    if (silentAfterMs === undefined) return;
    const { clock } = this.parts;
    life.cancelWatch();
    life.cancelWatch = clock.after(life.lastHeard + silentAfterMs - clock.elapsed(), () => {
      if (clock.elapsed() - life.lastHeard < silentAfterMs) return this.watch(life);
      const seconds = Math.round(silentAfterMs / 1_000);
      void this.fail(life, new CausewayError('BACKEND_OFFLINE', `nothing was heard of ${this.id} for ${seconds} s`));
    });
  }

  async execute(command: Command, signal: AbortSignal): Promise<void> {
    const { device } = command;
    this.admit(device);
    let isCounted = false;
    const onAbort = () => {
      isCounted = true;
      this.countTimeout(device);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.backend.execute(command, signal);
      this.circuits.delete(device);
    } catch (error) {
      if (!isCounted && hasCode(error, 'BACKEND_TIMEOUT')) this.countTimeout(device);
      // Any other answer is one.
      else if (!isCounted) this.circuits.delete(device);
      throw asCausewayError(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** @throws BACKEND_OFFLINE while the device's circuit is open; once its time is over one command may try */
  private admit(device: string): void {
    const circuit = this.circuits.get(device);
    if (circuit?.openUntil === undefined) return;
    const left = circuit.openUntil - this.parts.clock.elapsed();
    if (left > 0) {
      throw new CausewayError('BACKEND_OFFLINE', `${device} did not answer ${circuit.timeouts} times in a row`, {
        hint: `it is tried again in ${Math.ceil(left / 1_000)} s; see whether it has power and is in reach`,
      });
    }
    circuit.openUntil = this.parts.clock.elapsed() + OPEN_MS;
  }

  private countTimeout(device: string): void {
    const circuit = this.circuits.get(device) ?? { timeouts: 0 };
    circuit.timeouts++;
    if (circuit.timeouts >= TIMEOUTS_TO_OPEN) circuit.openUntil = this.parts.clock.elapsed() + OPEN_MS;
    this.circuits.set(device, circuit);
  }
}

const messageOf = (error: unknown): string => asCausewayError(error).message;

/** The promise, or BACKEND_TIMEOUT after `ms`. */
async function within<T>(clock: Clock, ms: number, promise: Promise<T>, message: string): Promise<T> {
  let cancel: Cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new CausewayError('BACKEND_TIMEOUT', message)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
