// All that ioBroker has of what comes in: its language, objects and states.
import { yieldToIo } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';
import type { Counters } from './counters.ts';
import { stemOf, withoutCovered } from './patterns.ts';
import { ALIVE_PATTERNS } from './reachability.ts';
import type { IobrokerConfig } from './schema.ts';
import type { IobSocket } from './socket.ts';
import {
  type Anything,
  type IobState,
  readObject,
  readState,
  readView,
  type SystemConfig,
  systemConfig,
} from './wire.ts';

/** What taking a snapshot needs. */
export interface SnapshotParts {
  readonly socket: IobSocket;
  readonly config: IobrokerConfig;
  readonly counters: Counters;
}

/** Objects beside states that matter, in the order in which they are best taken: what is around first. */
const AROUND = ['enum', 'folder', 'device', 'channel'] as const;

/** The end of a range of ids. */
const LAST = '\u9999';

/** Patterns of the objects that may matter. */
export const objectPatterns = ({ states }: IobrokerConfig): string[] =>
  withoutCovered(['enum.*', 'system.adapter.*', ...states.map(pattern => `${rootOf(pattern)}*`)]);

/** Patterns of the states that are listened to. */
export const statePatterns = ({ states }: IobrokerConfig): string[] => withoutCovered([...states, ...ALIVE_PATTERNS]);

// The instance that a pattern is of, with its dot; nothing where it may be of any.
function rootOf(pattern: string): string {
  const [adapter, instance, ...rest] = stemOf(pattern).split('.');
  return rest.length > 0 ? `${adapter}.${instance}.` : '';
}

/** What ioBroker says of itself. @throws as `IobSocket.ask` */
export const readSystem = async (socket: IobSocket): Promise<SystemConfig> =>
  systemConfig(await socket.ask('getObject', 'system.config'));

/** Objects that matter, in pieces: `take` is called for each. @throws as `IobSocket.ask` */
export async function eachObject(parts: SnapshotParts, take: (object: Anything) => void): Promise<void> {
  const { states } = parts.config;
  const roots = withoutCovered(states.map(pattern => `${rootOf(pattern)}*`)).map(stemOf);
  for (const type of AROUND) {
    for (const root of type === 'enum' ? ['enum.'] : roots) await each(await view(parts, type, root), take, parts);
  }
  const stems = withoutCovered(states.map(pattern => `${stemOf(pattern)}*`)).map(stemOf);
  for (const stem of stems) await each(await view(parts, 'state', stem), take, parts);
}

/** Objects of one type whose ids begin with a text. @throws as `IobSocket.ask` */
export async function view({ socket, counters }: SnapshotParts, type: string, stem = ''): Promise<unknown[]> {
  const answer = await socket.ask('getObjectView', 'system', type, { startkey: stem, endkey: `${stem}${LAST}` });
  return readView(answer, counters);
}

/** Present states, in pieces. @throws as `IobSocket.ask` */
export async function eachState(
  { socket, counters, config }: SnapshotParts,
  take: (id: string, state: IobState) => void,
): Promise<void> {
  for (const pattern of statePatterns(config)) {
    const answer = await socket.ask('getStates', pattern);
    await inPieces(Object.entries((answer ?? {}) as Record<string, Json>), ([id, raw]) => {
      const state = readState(raw, counters);
      if (state) take(id, state);
    });
  }
}

const each = (rows: readonly unknown[], take: (object: Anything) => void, { counters }: SnapshotParts): Promise<void> =>
  inPieces(rows, row => {
    const object = readObject(row, counters);
    if (object) take(object);
  });

/** Items that are worked on between two looks at what else there is to do. */
const PIECE = 200;

/** Works on items with the event loop free in between. */
export async function inPieces<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    work(item);
    if (index % PIECE === PIECE - 1) await yieldToIo();
  }
}
