// What an outsider publishes on the gateway's input topics, as it would be done on his behalf.
import { decodePayload, splitCause } from '../bus/codec.ts';
import type { BusInput } from '../bus/topics.ts';
import { commandOf, readSwitch, valuesOf } from '../command/set-values.ts';
import type { Engine } from '../engine/engine.ts';
import { setHouseVariable, setMode } from '../engine/house-changes.ts';
import { demandRun } from '../engine/operations.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Json } from '../model/value.ts';

/** Carries an input out. @throws CausewayError for what cannot be done */
export async function carryOut(engine: Engine, input: BusInput, text: string, client: string): Promise<void> {
  const { core } = engine;
  const { payload, causeId } = splitCause(decodePayload(text));
  const cause = engine.causes.follow(causeId, core.ids(), 'mqtt', { kind: 'mqtt', ref: client });
  const command = (device: string, name: string, args: Json | undefined) => {
    const said = core.gate.submit(core.tx, { device, command: name, args, cause });
    if (said.error) throw said.error;
  };
  await engine.do(() => {
    switch (input.kind) {
      case 'command':
        return command(input.device, input.command, payload === '' || payload === null ? undefined : payload);
      case 'set':
        for (const [attribute, value] of Object.entries(valuesOf(input.attribute, payload))) {
          const found = commandOf(core.devices.require(input.device), attribute, value);
          command(input.device, found.command, found.args);
        }
        return;
      case 'rule_set': {
        const on = readSwitch(payload);
        if (on === undefined)
          throw new CausewayError('INPUT_INVALID', `${JSON.stringify(payload)} is neither ON nor OFF`);
        return engine.rules.override(input.rule, on);
      }
      case 'rule_run':
        demandRun(engine, 'run', { rule: input.rule, args: isMap(payload) ? payload : {}, cause });
        return;
      case 'mode_set': {
        const mode = String(isMap(payload) ? payload.mode : payload);
        core.house.checkMode(mode);
        return setMode(core, mode, cause);
      }
      case 'variable_set':
        return setHouseVariable(core, input.variable, { value: payload }, cause);
      case 'request':
        throw new CausewayError('UNSUPPORTED', `operations (${input.op}) are not part of a scenario`);
    }
  });
}

const isMap = (payload: Json): payload is { [key: string]: Json } =>
  payload !== null && typeof payload === 'object' && !Array.isArray(payload);
