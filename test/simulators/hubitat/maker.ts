// The Maker API of the simulated hub: the paths that its documentation has, and no others.
import { simEffects } from './devices.ts';
import { allForm, commandsForm, detailForm, shortForm } from './forms.ts';
import type { SimState } from './state.ts';

/** An answer, or none for a path that is not documented. */
export type SimAnswer = { status: number; body: unknown } | undefined;

const ok = (body: unknown): SimAnswer => ({ status: 200, body });
const failed = (message: string, status = 200): SimAnswer => ({
  status,
  body: { error: true, type: 'java.lang.Exception', message },
});

const HSM: Record<string, string> = {
  armAway: 'armedAway',
  armHome: 'armedHome',
  armNight: 'armedNight',
  disarm: 'disarmed',
  disarmAll: 'allDisarmed',
  armAll: 'armedAway',
  armRules: '',
  disarmRules: '',
  cancelAlerts: '',
};

/** Answers a path below `/apps/api/<app>`; its parts are decoded. */
export function answerMaker(state: SimState, parts: readonly string[]): SimAnswer {
  const [section, ...rest] = parts;
  switch (section) {
    case 'devices':
      return answerDevices(state, rest);
    case 'modes':
      return answerModes(state, rest);
    case 'hsm':
      return answerHsm(state, rest);
    case 'hubvariables':
      return answerVariables(state, rest);
    case 'rooms':
      return ok([...new Set([...state.devices.values()].map(({ room }) => room))].filter(Boolean));
    case 'postURL':
      state.postUrl = rest.length > 0 ? rest.join('/') : undefined;
      return ok({ url: state.postUrl ?? null });
    default:
      return undefined;
  }
}

function answerDevices(state: SimState, [id, what, ...rest]: readonly string[]): SimAnswer {
  const all = [...state.devices.values()].filter(device => !state.unselected.has(device.id));
  if (id === undefined) return ok(all.map(shortForm));
  if (id === 'all') return ok(all.map(allForm));
  if (id === '*') return state.quirks.lacksDetailList ? undefined : ok([...state.oddRows, ...all.map(detailForm)]);
  const device = all.find(one => one.id === Number(id));
  if (!device) return failed(`no device ${id}`, 404);
  if (what === undefined) return ok(detailForm(device));
  if (what === 'commands') return ok(commandsForm(device));
  if (what === 'capabilities') return ok(detailForm(device).capabilities);
  if (what === 'events') {
    return ok(
      state.history
        .filter(event => event.device === device)
        .map(({ name, value, unit }) => ({
          device_id: id,
          label: device.label,
          name,
          value: String(value),
          date: '2026-03-03T14:20:00+0000',
          unit: unit ?? null,
          isStateChange: null,
          source: 'DEVICE',
        })),
    );
  }
  if (what === 'attribute') {
    const attribute = device.attributes.find(({ name }) => name === rest[0]);
    return attribute
      ? ok({ id, attribute: attribute.name, value: attribute.value === null ? null : String(attribute.value) })
      : failed(`no attribute ${rest[0]}`);
  }
  return command(state, Number(id), what, rest[0] === undefined ? [] : argumentsIn(rest[0]), 'maker');
}

/** Several arguments are one segment with commas; JSON is one argument. */
function argumentsIn(segment: string): unknown[] {
  if (segment.startsWith('{')) return [JSON.parse(segment)];
  return segment.split(',');
}

/** Runs a command of a device. */
export function command(
  state: SimState,
  id: number,
  name: string,
  args: readonly unknown[],
  way: 'maker' | 'runmethod',
): SimAnswer {
  const device = state.devices.get(id);
  const declared = device?.commands.find(one => one.name === name);
  if (!device || !declared) return failed(`device ${id} has no command ${name}`, 404);
  const isMistyped = args.some((arg, i) => declared.types?.[i] === 'NUMBER' && typeof arg !== 'number');
  if (device.isTyped && isMistyped) return failed(`MissingMethodException: ${name}() of ${device.driver}`, 500);
  state.receive({ device: id, command: name, args, way });
  for (const [attribute, value] of simEffects(device, name, args)) state.become(id, attribute, value);
  return way === 'maker' ? ok(detailForm(device)) : ok({ success: true, message: null });
}

function answerModes(state: SimState, [id]: readonly string[]): SimAnswer {
  if (!state.modes) return failed('modes are not enabled', 500);
  if (id !== undefined) {
    const mode = state.modes.find(one => String(one.id) === id);
    if (!mode) return failed(`no mode ${id}`);
    state.receive({ device: 0, command: 'mode', args: [mode.name], way: 'maker' });
    state.setMode(mode.name);
  }
  return ok(state.modes);
}

function answerHsm(state: SimState, [order]: readonly string[]): SimAnswer {
  if (state.hsm === undefined) return failed('HSM is not enabled', 500);
  const before = state.hsm;
  if (order !== undefined) {
    const status = HSM[order];
    if (status === undefined) return failed(`no command ${order}`);
    state.receive({ device: 0, command: 'hsm', args: [order], way: 'maker' });
    if (status !== '') state.setHsm(status);
  }
  return ok({ hsm: before });
}

function answerVariables(state: SimState, [name, value]: readonly string[]): SimAnswer {
  if (!state.variables) return failed('hub variables are not enabled', 500);
  if (name === undefined) return ok(state.variables);
  const variable = state.variables.find(one => one.name === name);
  if (!variable) return failed(`no variable ${name}`);
  if (value !== undefined) {
    state.receive({ device: 0, command: 'variable', args: [name, value], way: 'maker' });
    state.setVariable(name, value);
  }
  return ok(variable);
}
