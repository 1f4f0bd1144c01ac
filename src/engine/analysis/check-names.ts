// Whether what a rule names is there, and whether what it compares and sends can be.
import { fitArguments } from '../../command/arguments.ts';
import { asCausewayError } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/text.ts';
import type { AttributeDecl } from '../../model/capability.ts';
import type { Device } from '../../model/device.ts';
import type { Finding } from '../../model/finding.ts';
import type { Target } from '../../model/target.ts';
import { coerce, misfit } from '../../model/value.ts';
import type { Rule } from '../rules/schema.ts';
import type { Known } from './check.ts';
import type { AttributeRef, CommandRef, References } from './references.ts';
import { isComputed } from './writes.ts';

/** Unknown names, and values that cannot be. */
export function checkNames(rule: Rule, references: References, known: Known): Finding[] {
  return [
    ...references.devices.flatMap(({ path, target }) => missingDevices(path, target, known)),
    ...references.commands.flatMap(ref => wrongCommand(ref, known)),
    ...references.attributes.flatMap(ref => wrongValues(ref, known)),
    ...wrongModes(references, known),
    ...wrongVariables(rule, references, known),
    ...wrongPlaces(references, known),
  ];
}

/** Devices that a target names by id or alias and that exist, each with the path of the name. */
function* devicesOf(target: Target, { devices }: Known): Generator<Device> {
  for (const id of devices.members(target)) {
    const device = devices.get(id);
    if (device) yield device;
  }
}

function missingDevices(path: string, target: Target, { devices }: Known): Finding[] {
  const refs = typeof target === 'string' ? [{ ref: target, path }] : [];
  if (Array.isArray(target)) refs.push(...target.map((ref, index) => ({ ref, path: `${path}/${index}` })));
  return refs
    .filter(({ ref }) => !devices.get(ref))
    .map(({ ref, path: at }): Finding => {
      const hint = didYouMean(ref, [...devices.all().map(device => device.id), ...Object.keys(devices.aliases())]);
      return {
        code: 'unknown_device',
        severity: 'warning',
        path: at,
        message: `there is no device "${ref}" now`,
        hint,
      };
    });
}

function wrongCommand({ path, target, command, args, part, isRetried }: CommandRef, known: Known): Finding[] {
  return [...devicesOf(target, known)].flatMap((device): Finding[] => {
    const declared = Object.hasOwn(device.commands, command) ? device.commands[command] : undefined;
    if (!declared) {
      // A selector may mean devices of several kinds; those that cannot are told at run time.
      const severity = isSelector(target) ? 'warning' : 'error';
      const message = `${device.id} has no command "${command}"`;
      const hint = didYouMean(command, Object.keys(device.commands));
      return [{ code: 'unknown_command', severity, path: `${path}/command`, message, hint }];
    }
    if (isRetried && !declared.idempotent) {
      const message = `${command} is not the same twice as once, so it cannot be tried again`;
      return [{ code: 'type_mismatch', severity: 'error', path: `${path}/retry`, message }];
    }
    if (path.startsWith('finally') && !declared.idempotent) {
      const message = `${command} is not the same twice as once, so finally cannot hold it`;
      return [{ code: 'type_mismatch', severity: 'error', path: `${path}/command`, message }];
    }
    if (part === 'trigger' || isComputed(args)) return [];
    try {
      fitArguments(declared, args, command);
      return [];
    } catch (error) {
      const { message, hint, path: arg } = asCausewayError(error);
      const at =
        args === undefined || arg === undefined || Array.isArray(args) ? `${path}/args` : `${path}/args/${arg}`;
      return [{ code: 'type_mismatch', severity: 'error', path: at, message, ...(hint !== undefined && { hint }) }];
    }
  });
}

const isSelector = (target: Target): boolean => typeof target === 'object' && !Array.isArray(target);

function wrongValues(ref: AttributeRef, known: Known): Finding[] {
  return [...devicesOf(ref.target, known)].flatMap((device): Finding[] => {
    const declared = Object.hasOwn(device.attributes, ref.attribute) ? device.attributes[ref.attribute] : undefined;
    if (!declared) {
      if (isSelector(ref.target)) return [];
      const message = `${device.id} has no ${ref.isEvent ? 'event' : 'attribute'} "${ref.attribute}" now`;
      const hint = didYouMean(ref.attribute, Object.keys(device.attributes));
      return [{ code: 'never_fires', severity: 'warning', path: ref.path, message, hint }];
    }
    if (ref.isNumeric && declared.type !== 'number' && declared.type !== 'json') {
      const message = `${ref.attribute} of ${device.id} is no number, but one of ${wordsOf(declared)}`;
      return [{ code: 'type_mismatch', severity: 'error', path: `${ref.path}/attribute`, message }];
    }
    return ref.values.flatMap(({ path, value }): Finding[] => {
      const reason = isComputed(value) ? undefined : misfit(value, declared);
      if (reason === undefined) return [];
      return [
        { code: 'type_mismatch', severity: 'error', path, message: `${ref.attribute} of ${device.id}: ${reason}` },
      ];
    });
  });
}

const wordsOf = (declared: AttributeDecl): string => (declared.values ?? [declared.type]).join(', ');

function wrongModes({ modes }: References, { house }: Known): Finding[] {
  return modes
    .filter(({ name }) => !house.hasMode(name))
    .map(({ path, name }) => {
      const message = `the house has no mode "${name}"`;
      return { code: 'unknown_mode', severity: 'error', path, message, hint: didYouMean(name, house.modes()) };
    });
}

function wrongVariables(rule: Rule, references: References, { house }: Known): Finding[] {
  const own = rule.variables ?? {};
  const declared = house.declarations();
  const unknown = references.variables
    .filter(({ name }) => !Object.hasOwn(own, name) && !Object.hasOwn(declared, name) && !house.variables.has(name))
    .map(({ path, name }): Finding => {
      const known = [...Object.keys(own), ...Object.keys(declared)];
      const message = `there is no variable "${name}"`;
      return { code: 'unknown_variable', severity: 'warning', path, message, hint: didYouMean(name, known) };
    });
  const wrong = references.assignments.flatMap(({ path, name, value }): Finding[] => {
    const type = Object.hasOwn(own, name) ? own[name]?.type : declared[name]?.type;
    if (type === undefined || isComputed(value)) return [];
    const fitted = coerce(value, { type });
    return fitted.ok
      ? []
      : [{ code: 'type_mismatch', severity: 'error', path, message: `the variable ${name}: ${fitted.reason}` }];
  });
  return [...unknown, ...wrong];
}

/** Sun without a place, and periods that house.yaml does not have. */
function wrongPlaces({ usesSun, periods }: References, known: Known): Finding[] {
  const findings: Finding[] = [];
  if (!known.place) {
    for (const path of usesSun) {
      const message = 'where the sun stands cannot be told: the location of the house is not known';
      const hint = 'set location { latitude, longitude } in config.yaml';
      findings.push({ code: 'never_fires', severity: 'error', path, message, hint });
    }
  }
  for (const { path, name } of known.periods ? periods : []) {
    if (known.periods?.includes(name)) continue;
    const message = `house.yaml has no period "${name}", so the condition is never met`;
    findings.push({
      code: 'never_fires',
      severity: 'warning',
      path,
      message,
      hint: didYouMean(name, known.periods ?? []),
    });
  }
  return findings;
}
