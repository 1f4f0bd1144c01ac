// The way that the hub's own pages command a device: typed arguments, where the Maker API makes text of everything
// (fblackburn1/node-red-contrib-hubitat#165). It knows no selection of devices, so we look
// at that of the Maker API ourselves.

import { withSignals } from '../../lib/abort.ts';
import { CausewayError, hasCode } from '../../lib/errors.ts';
import type { Json } from '../../lib/json.ts';
import type { Log } from '../../lib/log.ts';
import { type Asking, type ClientParts, insist } from './client.ts';
import { dataOf, type Failure } from './http.ts';
import type { Pages } from './pages.ts';
import type { Selection } from './selection.ts';

/** An argument with the type that the hub gives it. */
export interface HubArgument {
  readonly type: 'NUMBER' | 'STRING' | 'JSON_OBJECT';
  readonly value: unknown;
}

/** `/device/runmethod`. */
export interface RunMethod {
  /** False: this hub does not allow it, and nothing was done. @throws as `HubClient.ask` and `Selection.check` */
  run(device: string, method: string, args: readonly HubArgument[], asking: Asking): Promise<boolean>;
}

const REFUSED = Symbol('refused');

/** One for each connection: whether the hub allows it is found out once. */
export function createRunMethod(
  parts: ClientParts & { readonly pages: Pages; readonly log: Log; readonly selection: Selection },
): RunMethod {
  const { config, pages, log, selection } = parts;
  let isAllowed = config.runmethod === 'auto';

  const attempt = async (what: string, body: Json, signal: AbortSignal): Promise<typeof REFUSED | undefined> => {
    const answer = await pages.exchange('/device/runmethod', { body, signal }).catch(error => {
      if (hasCode(error, 'BACKEND_AUTH')) return undefined;
      throw error;
    });
    // A hub without this way, or one that wants a login, has not looked at the command.
    if (!answer || answer.status === 404 || answer.status === 405) return REFUSED;
    const data = dataOf(answer, what);
    const { success, message } = data !== null && typeof data === 'object' && !Array.isArray(data) ? data : {};
    if (success === true) return undefined;
    const said = typeof message === 'string' ? ` (${message.slice(0, 200)})` : '';
    const verdict = success === false ? 'refused' : 'does not say whether this was done';
    throw {
      passing: false,
      uncertain: success !== false,
      error: new CausewayError('BACKEND_REJECTED', `the hub ${verdict}: ${what}${said}`, {
        hint: 'see the hub’s own log',
      }),
    } satisfies Failure;
  };

  return {
    async run(device, method, args, { again, signal: given }) {
      if (!isAllowed || !/^\d+$/.test(device)) return false;
      await selection.check(device, given);
      const what = `/device/runmethod ${device} ${method}`;
      const body = { id: Number(device), method, args: args as unknown as Json };
      const outcome = await withSignals([given, parts.signal], signal =>
        insist(parts, { again, tries: 3, signal, what }, () => attempt(what, body, signal)),
      );
      if (outcome !== REFUSED) return true;
      isAllowed = false;
      log.info({ hub: config.url }, 'the hub does not allow typed arguments: all commands go through the Maker API');
      return false;
    },
  };
}
