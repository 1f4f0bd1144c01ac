// What a console is and what of it is open to us, asked once for each connection.
import { CausewayError, hasCode } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type { Counters } from '../counters.ts';
import type { ConsoleClient, Sessions } from './client.ts';
import type { Http } from './http.ts';
import { readOfficialSites, readSites, readSysinfo } from './wire.ts';

/** A console. */
export interface Probed {
  /** Of the Network application: `10.0.162`. */
  readonly version: string | undefined;
  /** How long it has been up, s. */
  readonly uptime: number | undefined;
  /** The site by its names: people's, and the id of the official API where a key opens that. */
  readonly siteName: string;
  readonly siteId: string | undefined;
}

/** What probing needs. */
export interface ProbeParts {
  readonly backend: string;
  readonly site: string;
  readonly client: ConsoleClient;
  readonly http: Http;
  readonly signal: AbortSignal;
  readonly sessions: Sessions;
  readonly counters: Counters;
  readonly log: Log;
}

/** @throws BACKEND_AUTH, BACKEND_OFFLINE, BACKEND_TIMEOUT, BACKEND_REJECTED, UNSUPPORTED (another kind of application) */
export async function probe(parts: ProbeParts): Promise<Probed> {
  const { client, counters, site, sessions } = parts;
  const info = readSysinfo(await sysinfo(parts).catch(error => explain(parts, error)), counters);
  const official = sessions.key ? await officialSites(parts) : undefined;
  const mine = official?.find(({ internalReference }) => internalReference === site);
  const named = mine
    ? undefined
    : readSites(await client.read('os', '/proxy/network/api/self/sites').then(rowsOf), counters);
  const other = named?.find(({ name }) => name === site);
  return {
    version: info?.version,
    uptime: info?.uptime,
    siteName: mine?.name ?? other?.desc ?? site,
    siteId: mine?.id,
  };
}

// The list of sites has the legacy envelope, and stands beside the sites.
const rowsOf = (body: unknown): unknown => (body as { data?: unknown } | null)?.data;

const FRONT_PAGE_MS = 3_000;

/**
 * The older Network application that people host themselves has none of our paths, and says of them that a login is wrong or
 * that there is nothing: its front page tells what it is, since that leads to /manage.
 * @throws UNSUPPORTED, or the error
 */
async function explain({ http, signal }: ProbeParts, error: unknown): Promise<never> {
  const asked = { method: 'GET', path: '/', headers: {}, what: 'the front page', signal } as const;
  const answer = await http.request({ ...asked, timeoutMs: FRONT_PAGE_MS }).catch(() => undefined);
  const isMoved = answer !== undefined && answer.status >= 300 && answer.status < 400;
  if (!isMoved || !/\/manage(?:[/?#]|$)/.test(String(answer.headers.location))) throw error;
  throw new CausewayError(
    'UNSUPPORTED',
    `at ${http.url.host} is the older self-hosted Network application, which is not supported`,
    {
      hint: 'set url to a UniFi OS console, or move the application to a UniFi OS Server (port 11443) and set it to that',
    },
  );
}

/** The application's own description, which also says whether it has started; the first thing that is asked. */
async function sysinfo({ client, sessions, backend, log }: ProbeParts) {
  const read = () => client.read('legacy', 'stat/sysinfo');
  try {
    return await read();
  } catch (error) {
    // Some consoles take keys for the official API alone.
    if (!hasCode(error, 'BACKEND_AUTH') || !sessions.key || sessions.keyIsOfficialOnly) throw error;
    if (!(await isKeyGood(client))) throw error;
    if (!sessions.login) {
      throw new CausewayError(
        'BACKEND_AUTH',
        'the console takes the API key for its official API alone, which has neither events nor counters',
        {
          hint: 'add login (a local admin) to this backend in config.yaml',
        },
      );
    }
    sessions.keyIsOfficialOnly = true;
    log.info({ backend }, 'the console takes the API key for its official API alone: the rest goes by the login');
    return read();
  }
}

const isKeyGood = async (client: ConsoleClient): Promise<boolean> => {
  try {
    await client.read('official', 'info', { tries: 1 });
    return true;
  } catch {
    return false;
  }
};

const SITES = 'sites?offset=0&limit=200';

async function officialSites({ client, counters }: ProbeParts) {
  try {
    return readOfficialSites(await client.read('official', SITES), counters);
  } catch (error) {
    // Older consoles have no official API, and keys may be of another kind.
    if (hasCode(error, 'BACKEND_REJECTED', 'BACKEND_AUTH')) return undefined;
    throw error;
  }
}
