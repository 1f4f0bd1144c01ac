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

/** Objects as they came, those of what is around first. One after the other: together they take longer. @throws as `IobSocket.ask` */
export async function askObjects(parts: SnapshotParts): Promise<unknown[][]> {
  const { states } = parts.config;
  const roots = withoutCovered(states.map(pattern => `${rootOf(pattern)}*`)).map(stemOf);
  const stems = withoutCovered(states.map(pattern => `${stemOf(pattern)}*`)).map(stemOf);
  const answers: unknown[][] = [];
  for (const type of AROUND) {
    for (const root of type === 'enum' ? ['enum.'] : roots) answers.push(await view(parts, type, root));
  }
  for (const stem of stems) answers.push(await view(parts, 'state', stem));
  return answers;
}

/** Present states as they came. @throws as `IobSocket.ask` */
export const askStates = ({ socket, config }: SnapshotParts): Promise<Json[]> =>
  Promise.all(statePatterns(config).map(pattern => socket.ask('getStates', pattern)));

/** Objects in pieces: `take` is called for each. */
export async function eachObject(
  answers: readonly (readonly unknown[])[],
  counters: Counters,
  take: (object: Anything) => void,
) {
  for (const rows of answers) {
    await inPieces(rows, row => {
      const object = readObject(row, counters);
      if (object) take(object);
    });
  }
}

/** Objects of one type whose ids begin with a text. @throws as `IobSocket.ask` */
export async function view({ socket, counters }: SnapshotParts, type: string, stem = ''): Promise<unknown[]> {
  const answer = await socket.ask('getObjectView', 'system', type, { startkey: stem, endkey: `${stem}${LAST}` });
  return readView(answer, counters);
}

/** Present states in pieces. */
export async function eachState(
  answers: readonly Json[],
  counters: Counters,
  take: (id: string, state: IobState) => void,
) {
  for (const answer of answers) {
    await inPieces(Object.entries((answer ?? {}) as Record<string, Json>), ([id, raw]) => {
      const state = readState(raw, counters);
      if (state) take(id, state);
    });
  }
}

/** Items that are worked on between two looks at what else there is to do. */
const PIECE = 20;

/** Works on items with the event loop free in between. */
export async function inPieces<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    work(item);
    if (index % PIECE === PIECE - 1) await yieldToIo();
  }
}
