// What outsiders publish on the gateway's input topics, as operations on their behalf.
import type { BusMessage } from '../bus/bus.ts';
import { decodePayload, splitCause } from '../bus/codec.ts';
import type { Face } from '../bus/face.ts';
import type { BusInput, Topics } from '../bus/topics.ts';
import { commandOf, readSwitch, valuesOf } from '../command/set-values.ts';
import type { Engine } from '../engine/engine.ts';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { didYouMean } from '../lib/text.ts';
import type { Json } from '../model/value.ts';
import type { BoundOp, Caller } from '../ops/op.ts';
import type { Principals } from '../policy/principals.ts';
import { scopesOf } from '../policy/roles.ts';

/** What inputs are carried out with. */
export interface BusInputParts {
  readonly ops: ReadonlyMap<string, BoundOp>;
  readonly engine: Engine;
  readonly face: Face;
  readonly log: Log;
  /** The caller behind a message; undefined when there is none (any more). */
  readonly callerOf: (message: BusMessage, causeId: string | undefined) => Caller | undefined;
}

/** Carries an input out. Never throws; what fails is told on the result topic and in the log. */
async function carryOut(parts: BusInputParts, input: BusInput, message: BusMessage): Promise<void> {
  const { payload, causeId } = splitCause(decodePayload(message.payload));
  const caller = parts.callerOf(message, causeId);
  if (!caller) return;
  const call = async (name: string, args: Record<string, unknown>) => {
    const op = parts.ops.get(name);
    if (!op) throw noOperation(parts, name);
    return op.call(args, { caller, dryRun: false, signal: new AbortController().signal });
  };
  const refuse = (thrown: unknown) => {
    const error = asCausewayError(thrown);
    parts.log.warn(
      { topic: message.topic, client: message.client, ...error.toJSON() },
      'what an outsider asked for could not be done',
    );
    if (input.kind === 'set' || input.kind === 'command') {
      parts.face.result(
        { id: parts.engine.core.ids(), outcome: 'refused', ms: 0, error: error.toJSON() },
        input.device,
      );
    }
  };
  try {
    switch (input.kind) {
      case 'request':
        return await answer(parts, input.op, payload, (args, dryRun) => {
          const op = parts.ops.get(input.op);
          if (!op) throw noOperation(parts, input.op);
          return op.call(args, { caller, dryRun, signal: new AbortController().signal });
        });
      case 'command':
        await call('send_command', {
          device: input.device,
          command: input.command,
          ...(isArgs(payload) && { args: asArgs(payload) }),
          wait: false,
        });
        return;
      case 'set': {
        const set = async ([attribute, value]: [string, Json]) => {
          const found = commandOf(parts.engine.core.devices.require(input.device), attribute, value);
          await call('send_command', { device: input.device, command: found.command, args: found.args, wait: false });
        };
        // All in one go: the next message must not come in between. One that fails holds none of the others back.
        await Promise.all(Object.entries(valuesOf(input.attribute, payload)).map(one => set(one).catch(refuse)));
        return;
      }
      case 'rule_set': {
        const on = readSwitch(payload);
        if (on === undefined)
          throw new CausewayError('INPUT_INVALID', `${JSON.stringify(payload)} is neither ON nor OFF`);
        await call(on ? 'enable_rule' : 'disable_rule', { id: input.rule });
        return;
      }
      case 'rule_run':
        await call('run_rule', {
          id: input.rule,
          ...(payload !== null && typeof payload === 'object' && !Array.isArray(payload) && { args: payload }),
        });
        return;
      case 'mode_set':
        await call('set_mode', {
          mode: payload !== null && typeof payload === 'object' && !Array.isArray(payload) ? payload.mode : payload,
        });
        return;
      case 'variable_set':
        await call('set_variable', { name: input.variable, value: payload });
        return;
    }
  } catch (thrown) {
    refuse(thrown);
  }
}

const noOperation = ({ ops }: BusInputParts, name: string) =>
  new CausewayError('NOT_FOUND', `there is no operation "${name}"`, { hint: didYouMean(name, ops.keys()) });

const isArgs = (payload: Json): boolean => payload !== null && payload !== '';
// A bare value is the first argument.
const asArgs = (payload: Json): Json => (payload !== null && typeof payload === 'object' ? payload : [payload]);

async function answer(
  parts: BusInputParts,
  op: string,
  payload: Json,
  call: (args: Record<string, unknown>, dryRun: boolean) => Promise<unknown>,
): Promise<void> {
  const isMap = payload !== null && typeof payload === 'object' && !Array.isArray(payload);
  const { transaction, dry_run: dryRun, ...args } = isMap ? payload : {};
  const echo = transaction === undefined ? {} : { transaction };
  try {
    // Without its arguments an operation would do something else than was asked for.
    if (!isMap && isArgs(payload))
      throw new CausewayError('INPUT_INVALID', 'the payload of a request is a JSON object', {
        hint: 'send {"transaction":"1", …} with the arguments beside it, or nothing',
      });
    parts.face.response(op, { ...echo, status: 'ok', data: await call(args, dryRun === true) });
  } catch (thrown) {
    parts.face.response(op, { ...echo, status: 'error', error: asCausewayError(thrown).toJSON() });
  }
}

/** What outsiders' messages are taken in with. */
export interface OutsiderParts extends Omit<BusInputParts, 'ops' | 'callerOf'> {
  readonly ops: readonly BoundOp[];
  readonly topics: Topics;
  readonly principals: Pick<Principals, 'find' | 'anonymous'>;
}

/** Takes what outsiders publish: inputs as operations on their behalf, all else to the rules that listen. */
export function hearOutsiders({ ops, topics, principals, ...parts }: OutsiderParts): (message: BusMessage) => void {
  const byName = new Map(ops.map(op => [op.name, op]));
  const callerOf = (message: BusMessage, causeId: string | undefined): Caller | undefined => {
    // A broker of others has let the client in by its own rules.
    const principal =
      message.principal === undefined
        ? { name: message.client, scopes: scopesOf('operator') }
        : (principals.find(message.principal) ?? principals.anonymous(true));
    if (!principal) return undefined;
    const cause = causeId === undefined ? {} : { causeId };
    return { principal: principal.name, scopes: principal.scopes, via: 'mqtt', by: 'mqtt', ...cause };
  };
  return message => {
    const input = topics.parseInput(message.topic);
    if (input) void carryOut({ ...parts, ops: byName, callerOf }, input, message);
    else {
      const { topic, payload, retained, client } = message;
      parts.engine.message({ topic, payload, retained, client });
    }
  };
}
