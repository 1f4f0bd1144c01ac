// A simulated console with a large site, in a process of its own, in which things happen as in a real one: clients tell of
// themselves and roam, devices send their heartbeats, conversations end and are written a moment later, a few of them late.
import { X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type ConsoleSimulator, certificate, startConsole } from '../test/simulators/unifi/index.ts';
import { converse, HEARTBEAT_S, inform, settleMany, stir, wander } from '../test/simulators/unifi/many.ts';
import { serveRequests } from './processes.ts';
import type { SiteAt, SiteCounts, SiteRequest } from './site-request.ts';

const STEP_MS = 100;
const USUAL_MS = 5_000;
/** One of so many flows is written late: so few that what was read before lies between them. */
const LATE_OF = 300;
const MESSAGES_A_SECOND = 4;
const ROAM_MS = 2_000;

let site: ConsoleSimulator;
let marked = { at: 0, requests: 0, received: 0, messages: 0 };
let messages = 0;
const ended: { readonly at: number; id?: string }[] = [];

/** Calls it so many times a second from now on, with 0, 1, 2 … */
function often(perSecond: number, act: (i: number) => void): void {
  const began = performance.now();
  let count = 0;
  setInterval(() => {
    for (const due = Math.floor(((performance.now() - began) * perSecond) / 1_000); count < due; count++) act(count);
  }, STEP_MS);
}

function end(i: number, latestMs: number): void {
  const flow: (typeof ended)[number] = { at: site.state.now() };
  const late = i % LATE_OF === 0 ? latestMs * (1 - Math.random() / 5) : Math.random() * Math.min(USUAL_MS, latestMs);
  ended.push(flow);
  setTimeout(() => {
    flow.id = converse(site.state, i, flow.at).id;
  }, late);
}

const told = (act: (i: number) => void) => (i: number) => {
  messages++;
  act(i);
};

function live(rate: number, latestMs: number): void {
  const { state } = site;
  // A stride through all clients, of which neighbours have little in common.
  often(
    MESSAGES_A_SECOND,
    told(i => stir(state, i * 7)),
  );
  often(
    state.devices.length / HEARTBEAT_S,
    told(i => inform(state, i)),
  );
  often(
    1_000 / ROAM_MS,
    told(i => wander(state, i * 11)),
  );
  often(rate, i => end(i, latestMs));
}

async function counts(): Promise<SiteCounts> {
  const minutes = (site.state.now() - marked.at) / 60_000;
  const requests = site.requests.slice(marked.requests);
  const flows = site.state.received.slice(marked.received).filter(({ path }) => path.endsWith('/traffic-flows'));
  const perMinute = {
    requests: requests.length / minutes,
    ofFlows: flows.length / minutes,
    messages: (messages - marked.messages) / minutes,
  };
  const those = ended.filter(({ at }) => at >= marked.at);
  while (those.some(({ id }) => id === undefined)) await pause(STEP_MS);
  return {
    ended: those.map(({ id }) => id as string),
    perMinute,
    pages: Math.max(...flows.map(({ body }) => Number(body.pageNumber) + 1)),
  };
}

serveRequests(async (request: SiteRequest): Promise<unknown> => {
  switch (request.do) {
    case 'start':
      // The later one has the log of events asked for as well.
      site = await startConsole({ profile: 'network10' });
      settleMany(site.state, request.devices, request.clients);
      return {
        url: site.url,
        api_key: site.apiKey,
        login: { username: 'causeway', password: site.password },
        tls: { fingerprint: new X509Certificate(certificate.cert).fingerprint256 },
      } satisfies SiteAt;
    case 'live':
      return live(request.rate, request.latestMs);
    case 'mark': {
      const { requests, state } = site;
      marked = { at: state.now(), requests: requests.length, received: state.received.length, messages };
      return;
    }
    case 'end':
      return counts();
  }
});
