// What clients can read of ioBroker and subscribe to: states, objects and the log. A part may be a pattern.
import { iso } from '../../lib/clock.ts';
import { type BackendResource, defineResource } from '../operation.ts';
import type { IobrokerBackend } from './index.ts';
import { objectsOf, redacted, requireObject, showState, stateIdsOf, statesOf } from './operations/show.ts';
import { isPattern, matcherOf, stemOf } from './patterns.ts';

/** Of a pattern. */
const MOST = 500;
const LINES = 200;
const TYPES = ['state', 'channel', 'device', 'folder', 'enum', 'instance', 'adapter', 'host', 'script'];

const state = defineResource({
  template: 'iobstate://{id}',
  name: 'iobstate',
  title: 'A state of ioBroker',
  description: 'A state of ioBroker by id; all states that fit, where the id has wildcards (iobstate://hue.0.*)',
  async read(backend: IobrokerBackend, { id = '' }) {
    const connection = backend.live;
    if (isPattern(id)) {
      const ids = (await stateIdsOf(connection, id, matcherOf(id))).sort();
      const values = await statesOf(connection, [id]);
      const states = ids.slice(0, MOST).map(one => showState(connection, one, values.get(one) ?? null));
      return { pattern: id, states, total: ids.length };
    }
    await requireObject(connection, id);
    return showState(connection, id, await connection.socket.ask('getState', id));
  },
  watch: (backend, { id = '' }, tell) => backend.watches.watch('state', id, tell),
});

const object = defineResource({
  template: 'iobobject://{id}',
  name: 'iobobject',
  title: 'An object of ioBroker',
  description: 'An object of ioBroker by id, without secrets; a list of those that fit, where the id has wildcards',
  async read(backend: IobrokerBackend, { id = '' }) {
    const connection = backend.live;
    if (!isPattern(id)) return redacted(await requireObject(connection, id));
    const matches = matcherOf(id);
    const found = (await objectsOf(connection, TYPES, stemOf(id))).filter(one => matches(one.id));
    const objects = found.slice(0, MOST).map(one => ({ id: one.id, type: one.type, common: redacted(one.raw).common }));
    return { pattern: id, objects, total: found.length };
  },
  watch: (backend, { id = '' }, tell) => backend.watches.watch('object', id, tell),
});

const log = defineResource({
  template: 'ioblog://{source}',
  name: 'ioblog',
  title: 'The log of ioBroker',
  description: 'The newest lines of one adapter instance (ioblog://hue.0), or of all (ioblog://all)',
  async read(backend: IobrokerBackend, { source = 'all' }) {
    const lines = (await backend.logs.recent()).filter(line => source === 'all' || line.source === source);
    return { source, lines: lines.slice(-LINES).map(({ ts, ...line }) => ({ ts: iso(ts), ...line })) };
  },
  watch: (backend, { source = 'all' }, tell) => backend.logs.watch(source, tell),
});

/** All of them. */
export const iobrokerResources: readonly BackendResource[] = [state, object, log];
