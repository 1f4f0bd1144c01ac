// Operations on the house: mode, variables, panic.
import { z } from 'zod';
import { setHouseVariable, setMode } from '../engine/house-changes.ts';
import { iso } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Json } from '../model/value.ts';
import { causeOf } from './causes.ts';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

const AnyObject = z.looseObject({});

const getMode = defineOp({
  name: 'get_mode',
  title: 'Mode of the house',
  description: 'The present mode and all modes there are.',
  input: z.strictObject({}),
  output: z.looseObject({ mode: z.unknown(), modes: z.array(z.string()) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/mode'],
  listed: false,
  async run(gateway: Gateway) {
    const { house, timeline } = gateway.engine.core;
    return {
      mode: house.mode.value,
      modes: [...(house.modes() ?? [])],
      since: iso(timeline.toWall(house.mode.lastChanged)),
    };
  },
});

const setModeOp = defineOp({
  name: 'set_mode',
  title: 'Set the mode',
  description: 'Sets the mode of the house (home, away, night …); where a hub owns it, tells that hub.',
  input: z.strictObject({ mode: z.string().min(1) }),
  output: AnyObject,
  effect: 'write',
  scope: 'house:write',
  idempotent: true,
  route: ['PUT', '/mode'],
  listed: true,
  async run(gateway: Gateway, { mode }, { caller, dryRun }) {
    const { engine } = gateway;
    engine.core.house.checkMode(mode);
    const previous = engine.core.house.mode.value;
    if (dryRun) return { mode, previous, dry_run: true };
    const cause = causeOf(gateway, caller);
    const owner = engine.modeOwner();
    await engine.do(() => {
      if (!owner) return setMode(engine.core, mode, cause);
      const said = engine.core.gate.submit(engine.core.tx, { ...owner, args: { mode }, cause });
      if (said.error) throw said.error;
    });
    return { mode, previous };
  },
});

const listVariables = defineOp({
  name: 'list_variables',
  title: 'List variables',
  description: 'The variables of the house with type and value.',
  input: z.strictObject({}),
  output: z.looseObject({ variables: z.array(AnyObject) }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/variables'],
  listed: false,
  async run(gateway: Gateway) {
    const { house, timeline } = gateway.engine.core;
    return {
      variables: Object.entries(house.declarations()).map(([name, { type, initial }]) => {
        const known = house.variables.get(name);
        return {
          name,
          type,
          value: known?.value ?? initial,
          ...(known && { last_changed: iso(timeline.toWall(known.lastChanged)) }),
        };
      }),
    };
  },
});

const setVariable = defineOp({
  name: 'set_variable',
  title: 'Set a variable',
  description: 'Sets a variable of the house; `add` adds to a number in one go.',
  input: z.strictObject({ name: z.string().min(1), value: z.json().optional(), add: z.number().optional() }),
  output: AnyObject,
  effect: 'write',
  scope: 'house:write',
  route: ['PUT', '/variables/:name'],
  listed: false,
  async run(gateway: Gateway, input, { caller, dryRun }) {
    if ((input.value === undefined) === (input.add === undefined))
      throw new CausewayError('INPUT_INVALID', 'give value or add', { path: 'value' });
    const { engine } = gateway;
    const previous = engine.core.house.variables.get(input.name)?.value ?? null;
    if (dryRun) {
      const value = engine.core.house.checkVariable(
        input.name,
        input.value === undefined ? previous : (input.value as Json),
      );
      return { name: input.name, value, previous, dry_run: true };
    }
    const cause = causeOf(gateway, caller);
    await engine.do(() =>
      setHouseVariable(
        engine.core,
        input.name,
        input.add === undefined ? { value: input.value as Json } : { add: input.add },
        cause,
      ),
    );
    return { name: input.name, value: engine.core.house.variables.get(input.name)?.value ?? null, previous };
  },
});

const setPanic = defineOp({
  name: 'set_panic',
  title: 'Panic',
  description:
    'Stops everything that rules do, at once, until it is ended: their runs are cancelled, none starts. Manual control stays.',
  input: z.strictObject({ panic: z.boolean() }),
  output: AnyObject,
  effect: 'write',
  scope: 'house:write',
  idempotent: true,
  route: ['PUT', '/panic'],
  listed: false,
  async run(gateway: Gateway, { panic }, { dryRun }) {
    if (!dryRun) await gateway.engine.do(() => gateway.engine.setPanic(panic));
    return { panic };
  },
});

/** Operations on the house. */
export const houseOps = [getMode, setModeOp, listVariables, setVariable, setPanic];
