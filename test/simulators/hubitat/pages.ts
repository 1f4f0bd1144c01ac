// What the simulated hub's own interface asks, beside the Maker API: the shapes that public clients tell of, and no others.
import { command, type SimAnswer } from './maker.ts';
import type { SimState } from './state.ts';

/** What is asked. */
export interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Page = (state: SimState, request: PageRequest, rest: string) => SimAnswer;

const ok = (body: unknown): SimAnswer => ({ status: 200, body });
const failed: SimAnswer = { status: 500, body: 'an error has occurred' };

const get =
  (make: (state: SimState, rest: string, query: URLSearchParams) => unknown): Page =>
  (state, { method, query }, rest) => {
    if (method !== 'GET') return undefined;
    const body = make(state, rest, query);
    return body === undefined ? failed : ok(body);
  };

/** Paths; one that ends with `/` has an id behind it. */
const PAGES: Readonly<Record<string, Page>> = {
  '/hub2/hubData': get(({ self }) => ({
    name: self.name,
    model: 'C-8 Pro',
    version: self.version,
    ipAddress: '192.0.2.10',
    safeMode: false,
    alerts: self.alerts,
    baseModel: { userLoggedIn: false },
  })),
  '/hub/details/json': get(({ self, scale }) => ({
    hubName: self.name,
    hardwareVersion: 'Rev C-8 Pro',
    platformVersion: self.version,
    timeZone: 'Europe/Berlin',
    tempScale: scale,
    latitude: 52.5,
    longitude: 13.4,
    zipCode: '10115',
  })),
  '/hub/advanced/freeOSMemory': get(({ self }) => `${self.memoryKb}\n`),
  '/hub/advanced/internalTempCelsius': get(({ self }) => String(self.temperatureC)),
  '/hub/advanced/databaseSize': get(({ self }) => String(self.databaseSize)),
  '/logs/json': get(({ self }) => ({ uptime: self.uptime, deviceStats: [], appStats: [], jobs: [], runningJobs: [] })),
  '/logs/past/json': get(({ logLines }, _rest, query) => {
    const of = query.get('type') === null ? undefined : `${query.get('type')}|${query.get('id')}|`;
    return logLines.filter(line => of === undefined || (line.split('\t')[2] ?? '').startsWith(of));
  }),
  '/logs/eventsJson': get(({ history, eventRow }) => history.filter(event => !event.device).map(eventRow)),
  '/device/eventsJson/': get((state, id) => {
    const device = state.devices.get(Number(id));
    return device && state.history.filter(event => event.device === device).map(state.eventRow);
  }),
  '/device/fullJson/': get((state, id) => {
    const device = state.devices.get(Number(id));
    if (!device) return undefined;
    return {
      device: {
        id: device.id,
        name: device.driver,
        label: device.label,
        roomName: device.room ?? null,
        deviceNetworkId: `SIM-${device.id}`,
        capabilities: device.capabilities,
        disabled: false,
        typeName: device.driver,
        currentStates: Object.fromEntries(
          device.attributes.map(({ name, value, dataType, unit }) => [
            name,
            { name, value, dataType, unit: unit ?? null, numberValue: null, date: '2026-06-27T10:30:00.000-0600' },
          ]),
        ),
      },
      commands: device.commands.map(({ name, types = [] }) => ({ capability: null, name, arguments: types })),
      appsUsing: [{ id: 12, name: 'Maker API', label: 'Maker API', trueLabel: 'Causeway', disabled: false }],
      appsUsingCount: 1,
      parentApp: null,
      settings: [],
      dashboards: [],
    };
  }),
  '/hub2/localBackups': get(({ backups }) => backups),
  '/hub/backupDB': get((state, _rest, query) => {
    if (query.get('fileName') !== 'latest') return undefined;
    if (!state.quirks.losesBackups) state.addBackup(Date.now());
    return 'x'.repeat(3 * 1024 * 1024);
  }),
  '/hub/reboot': (state, { method }) => {
    if (method !== 'POST') return undefined;
    state.reboots++;
    return ok('true');
  },
  '/device/runmethod': (state, { method, body }) => {
    if (method !== 'POST') return undefined;
    const { id, method: name, args } = JSON.parse(body) as { id: number; method: string; args: { value: unknown }[] };
    const values = args.map(({ value }) => value);
    return command(state, id, name, values, 'runmethod') ?? failed;
  },
};

const pageAt = (state: SimState, path: string): { page: Page; rest: string } | undefined => {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const page = PAGES[path] ?? PAGES[folder];
  if (!page || state.quirks.missingPages?.test(path)) return undefined;
  return { page, rest: decodeURIComponent(path.slice(folder.length)) };
};

/** Whether the hub has such a page. */
export const answersPage = (state: SimState, path: string): boolean => pageAt(state, path) !== undefined;

/** Answers a path of the hub's own interface; none for one that the real hub is not known to have. */
export function answerPage(state: SimState, request: PageRequest): SimAnswer {
  const found = pageAt(state, request.path);
  return found?.page(state, request, found.rest);
}
