// The UniFi backend: the clients, devices, WLANs, WANs and the site of a console's Network application.
import { readFile } from 'node:fs/promises';
import { asCausewayError, CausewayError, hasCode } from '../../lib/errors.ts';
import type { BackendSink, Command, SystemBackup } from '../../model/command.ts';
import type { Supervised } from '../supervisor.ts';
import { type AnswersKept, keepAnswers } from './answers-kept.ts';
import { listBackups, makeBackup } from './backups.ts';
import { carryOut, ownAddresses } from './commands/index.ts';
import { Connection, nothingRemembered, type UnifiParts, type View } from './connection.ts';
import { createClient, type Sessions } from './console/client.ts';
import { createHttp, type Http } from './console/http.ts';
import { probe } from './console/probe.ts';
import { keySession, loginSession } from './console/session.ts';
import { takeSnapshot } from './console/snapshot.ts';
import { type Counters, newCounters } from './counters.ts';
import type { RecentFlows } from './flows/recent.ts';
import type { Alarm } from './hooks/alarm.ts';
import { createHook } from './hooks/index.ts';
import type { UnifiConfig } from './schema.ts';

export type { UnifiParts } from './connection.ts';
export { type UnifiConfig, UnifiSchema } from './schema.ts';

interface Running {
  readonly connection: Connection;
  readonly http: Http;
}

/** A console. Each start is one connection, which ends with `offline`; the supervisor starts it anew. */
export class UnifiBackend implements Supervised {
  readonly id: string;
  readonly kind = 'unifi';
  readonly restartWhenOffline = true;
  readonly counters: Counters = newCounters();
  /** What was asked of the console a moment ago. */
  readonly answers: AnswersKept;
  /** Which flows are told. */
  readonly flowChoice: UnifiConfig['flows'];
  /** Those that were told a moment ago. */
  readonly recentFlows: RecentFlows;
  readonly hook: Supervised['hook'];
  private readonly config: UnifiConfig;
  private readonly parts: UnifiParts;
  private readonly own: ReturnType<typeof ownAddresses>;
  private readonly memory = nothingRemembered();
  private readonly sessions: Sessions;
  private running: Running | undefined;

  constructor(config: UnifiConfig, parts: UnifiParts) {
    const { api_key: key, login } = config;
    const { clock } = parts;
    this.id = parts.id;
    this.config = config;
    this.flowChoice = config.flows;
    this.recentFlows = this.memory.recentFlows;
    this.parts = parts;
    this.own = ownAddresses(config.protected);
    this.answers = keepAnswers(clock, () => this.ready().client);
    const { webhook } = config;
    const consoleNow = () => this.running?.connection.view?.consoleNow();
    this.hook =
      webhook && createHook({ backend: parts.id, webhook, clock, consoleNow, tell: alarm => this.ring(alarm) });
    this.sessions = {
      key: key && keySession(key.reveal()),
      login:
        login &&
        loginSession({ clock, counters: this.counters, username: login.username, password: login.password.reveal() }),
      keyIsOfficialOnly: false,
      pauses: new Map(),
    };
  }

  /** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED, UNSUPPORTED, CONFIG_INVALID */
  async start(sink: BackendSink): Promise<void> {
    const { config, counters, memory, sessions } = this;
    await this.stop();
    const http = await this.openHttp();
    const onConfigured = () => this.answers.forget();
    const connection = new Connection({ ...this.parts, config, counters, memory, sessions, http, sink, onConfigured });
    this.running = { connection, http };
    await connection.open();
  }

  async stop(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    running?.connection.close();
    await running?.http.close();
  }

  /** @throws BACKEND_OFFLINE, and as `carryOut` */
  async execute(command: Command, signal: AbortSignal): Promise<void> {
    const { network } = this.ready();
    const { connection } = this.running as Running;
    this.answers.forget();
    try {
      await carryOut(connection.wayTo(network, this.own), connection.device(command.device), command, signal);
    } catch (error) {
      // A console that is gone shows by this first.
      if (hasCode(error, 'BACKEND_OFFLINE', 'BACKEND_TIMEOUT', 'BACKEND_AUTH')) connection.lookSoon();
      throw error;
    } finally {
      // What was read while it was being changed may be of before.
      this.answers.forget();
    }
    // Where nothing is pushed to us, what came of it is looked for.
    if (!connection.isPushed) connection.lookSoon(true);
  }

  /** @throws BACKEND_OFFLINE, and as `listBackups` */
  async backups(signal: AbortSignal): Promise<readonly SystemBackup[]> {
    return listBackups(this.ready().client, signal);
  }

  /** @throws BACKEND_OFFLINE, and as `makeBackup` */
  async backup(signal: AbortSignal): Promise<SystemBackup> {
    return makeBackup(this.ready().client, signal);
  }

  /** The console, for those who look at it. @throws BACKEND_OFFLINE */
  ready(): View {
    const view = this.running?.connection.view;
    if (view) return view;
    throw new CausewayError('BACKEND_OFFLINE', `the console ${this.id} cannot be reached now`, {
      hint: 'see the state of the backend: its reason says what to do',
    });
  }

  async test(): Promise<{ ok: boolean; message: string; hint?: string }> {
    const { config, counters, sessions, id } = this;
    const { clock, log } = this.parts;
    const { signal } = new AbortController();
    let http: Http | undefined;
    try {
      http = await this.openHttp();
      const client = createClient({ http, sessions, site: config.site, clock, counters, signal });
      const asked = { backend: id, site: config.site, client, http, signal, sessions, counters, log };
      const { version = '?' } = await probe(asked);
      const { devices, stations } = await takeSnapshot({ client, counters, clock }, false);
      const message = `the console answers (Network ${version}); ${devices.length} devices, ${stations.length} clients`;
      return { ok: true, message };
    } catch (thrown) {
      const { message, hint } = asCausewayError(thrown);
      return { ok: false, message, ...(hint !== undefined && { hint }) };
    } finally {
      await http?.close();
    }
  }

  /** What an alarm claims is only told: what became of it, the console itself says. */
  private ring(alarm: Alarm): void {
    // Without the id of the caller, which might be that of something else that happened.
    this.ready().network.site.happen('alarm', { ...alarm });
    this.answers.forget();
    this.running?.connection.lookSoon();
  }

  private async openHttp(): Promise<Http> {
    const { tls, url } = this.config;
    const { clock, log, id } = this.parts;
    if (tls.insecure && !this.memory.said.has('insecure')) {
      this.memory.said.add('insecure');
      log.warn(
        { backend: id },
        'the console’s certificate is not checked (tls.insecure): whoever is between can read and change everything',
      );
    }
    return createHttp({
      clock,
      url: new URL(url),
      ca: tls.ca_file === undefined ? undefined : await authority(tls.ca_file),
      serverName: tls.server_name,
      fingerprint: tls.fingerprint,
      insecure: tls.insecure,
    });
  }
}

async function authority(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CausewayError('CONFIG_INVALID', `tls.ca_file cannot be read: ${file}`, {
      hint: 'check the path and who may read it',
      cause: error,
    });
  }
}
