// The devices of a scenario: those that it declares, and those that it only names, with the attributes and commands that
// it names, typed by the capability they belong to (FORMATS §3 "Devices").
import { referencesOf } from '../engine/analysis/references.ts';
import type { ConditionConfig, StepConfig, TriggerConfig } from '../engine/kind.ts';
import {
  type AttributeDecl,
  CAPABILITIES,
  type CapabilityName,
  type CommandDecl,
  capabilitiesOfCommand,
  capabilityOfAttribute,
} from '../model/capability.ts';
import { type Device, deviceOf } from '../model/device.ts';
import type { Target } from '../model/target.ts';
import type { Json } from '../model/value.ts';
import type { Scenario, ScenarioDevice } from './scenario.ts';

/** A device of the scenario. */
export interface Member {
  readonly device: Device;
  /** ms until the effects of a command come back; undefined when they never do. */
  readonly echo: number | undefined;
}

/** What the file says of one device. Facts are what it does or is; wishes are what rules and expectations name. */
interface Named {
  readonly facts: Map<string, unknown[]>;
  readonly wishes: Map<string, unknown[]>;
  readonly numeric: Set<string>;
  readonly events: Set<string>;
  readonly commands: Map<string, Set<string>>;
}

/**
 * All devices, by id. A rule that is saved on the way may name devices that are not there: only what the rest of the file
 * names exists.
 * @param rules those of the beginning, as written
 */
export function castOf(scenario: Scenario, rules: readonly unknown[]): Map<string, Member> {
  const { aliases } = scenario.house;
  const resolve = (ref: string) => (Object.hasOwn(aliases, ref) ? (aliases[ref] as string) : ref);
  const named = new Map<string, Named>();
  const of = (ref: string): Named | undefined => {
    const id = resolve(ref);
    if (!/^[^:\s]+:./.test(id)) return undefined;
    let one = named.get(id);
    if (!one) {
      one = { facts: new Map(), wishes: new Map(), numeric: new Set(), events: new Set(), commands: new Map() };
      named.set(id, one);
    }
    return one;
  };
  const tell = (ref: string, attribute: string, values: unknown[], kind: 'facts' | 'wishes') => {
    const known = of(ref)?.[kind];
    known?.set(attribute, [...(known.get(attribute) ?? []), ...values]);
  };
  for (const id of Object.keys(scenario.devices)) of(id);
  tellGiven(scenario, tell);
  tellTimeline(scenario, of, tell);
  for (const rule of rules) tellRule(rule, of, tell);
  tellHouse(scenario, of, tell);
  tellExpected(scenario, of, tell);
  // A button may be pressed by nobody; what a rule would look at or command has to be somewhere.
  const ofKnown: Of = (ref, isEvent) => (isEvent || named.has(resolve(ref)) ? of(ref) : undefined);
  for (const { save, patch } of scenario.timeline)
    for (const rule of [save, patch])
      if (rule !== undefined) tellRule(rule, ofKnown, (ref, ...rest) => ofKnown(ref) && tell(ref, ...rest));
  const declared = new Map(Object.entries(scenario.devices).map(([ref, device]) => [resolve(ref), device]));
  return new Map([...named].map(([id, one]) => [id, memberOf(id, one, declared.get(id))]));
}

type Of = (ref: string, isEvent?: boolean) => Named | undefined;
type Tell = (ref: string, attribute: string, values: unknown[], kind: 'facts' | 'wishes') => void;

/** The value of a `given` attribute, which may stand as `{ value, since }`. */
export function givenValue(entry: Json): { value: Json; since: string | undefined } {
  const isDated =
    entry !== null &&
    typeof entry === 'object' &&
    !Array.isArray(entry) &&
    'value' in entry &&
    Object.keys(entry).every(key => key === 'value' || key === 'since');
  if (!isDated) return { value: entry, since: undefined };
  const { value = null, since } = entry as { value?: Json; since?: string };
  return { value, since };
}

function tellGiven({ given }: Scenario, tell: Tell): void {
  for (const [ref, values] of Object.entries(given.devices))
    for (const [attribute, entry] of Object.entries(values)) tell(ref, attribute, [givenValue(entry).value], 'facts');
}

function tellTimeline(scenario: Scenario, of: Of, tell: Tell): void {
  for (const entry of scenario.timeline) {
    for (const [ref, values] of Object.entries(entry.set ?? {}))
      for (const [attribute, value] of Object.entries(values)) tell(ref, attribute, [value], 'facts');
    // A raw report may be of a wrong type on purpose: it names the attribute and no more.
    if (entry.report) tell(entry.report.device, entry.report.attribute, [], 'facts');
    if (entry.event) of(entry.event.device)?.events.add(entry.event.name);
    if (entry.command) addCommand(of(entry.command.device), entry.command.command, entry.command.args);
    for (const ref of [...(entry.unavailable ?? []), ...(entry.available ?? []), ...(entry.remove ?? [])]) of(ref);
    for (const ref of [entry.fail?.device, entry.rename?.id, entry.replace?.old, entry.replace?.new])
      if (ref !== undefined) of(ref);
  }
}

function addCommand(named: Named | undefined, command: string, args: unknown): void {
  if (!named) return;
  const known = named.commands.get(command) ?? new Set<string>();
  named.commands.set(command, known);
  if (args !== null && typeof args === 'object' && !Array.isArray(args))
    for (const name of Object.keys(args)) known.add(name);
}

/** The ids of a target that names them. */
const idsOf = (target: Target): string[] => {
  if (typeof target === 'string') return [target];
  if (Array.isArray(target)) return target.filter(ref => typeof ref === 'string');
  return [];
};

type RawRule = {
  triggers: TriggerConfig[];
  condition?: ConditionConfig;
  while?: ConditionConfig;
  actions: StepConfig[];
  finally?: StepConfig[];
};

function tellRule(rule: unknown, of: Of, tell: Tell): void {
  const found = referencesOf({ triggers: [], actions: [], ...(rule as object) } as RawRule);
  for (const { target } of found.devices) for (const ref of idsOf(target)) of(ref);
  for (const { target, attribute, values, isNumeric, isEvent } of found.attributes) {
    for (const ref of idsOf(target)) {
      if (isEvent) of(ref, true)?.events.add(attribute);
      else
        tell(
          ref,
          attribute,
          values.map(one => one.value),
          'wishes',
        );
      if (isNumeric) of(ref)?.numeric.add(attribute);
    }
  }
  for (const { target, command, args } of found.commands)
    for (const ref of idsOf(target)) addCommand(of(ref), command, args);
}

function tellHouse({ house }: Scenario, of: Of, tell: Tell): void {
  for (const id of Object.values(house.aliases)) of(id);
  for (const { members, attribute } of Object.values(house.groups))
    for (const ref of idsOf(members as Target)) tell(ref, attribute, [], 'wishes');
  for (const { trackers } of Object.values(house.people)) for (const ref of trackers) of(ref);
  for (const { devices } of Object.values(house.rooms)) for (const ref of devices) of(ref);
  for (const scene of Object.values(house.scenes))
    for (const [ref, values] of Object.entries(scene))
      for (const [attribute, value] of Object.entries(values)) tell(ref, attribute, [value], 'wishes');
}

function tellExpected(scenario: Scenario, of: Of, tell: Tell): void {
  for (const { state, command, no } of scenario.expect) {
    for (const [ref, values] of Object.entries(state ?? {}))
      for (const [attribute, value] of Object.entries(values)) tell(ref, attribute, [value], 'wishes');
    for (const match of [command, no?.command]) {
      if (match?.device === undefined) continue;
      of(match.device);
      if (match.command !== undefined) addCommand(of(match.device), match.command, match.args);
    }
  }
}

// --- from names to a declaration ---------------------------------------------------------------------------------------

function memberOf(id: string, named: Named, declared: ScenarioDevice | undefined): Member {
  const echo = declared?.echo ?? { after: 50 };
  const isDescribed =
    declared !== undefined &&
    declared.capabilities.length + Object.keys(declared.attributes).length + Object.keys(declared.commands).length > 0;
  const { capabilities, attributes, commands } = infer(named, declared, isDescribed);
  const name = declared?.label ?? declared?.name ?? id.slice(id.indexOf(':') + 1);
  return {
    device: deviceOf({ id, name, room: declared?.room, capabilities: [...capabilities] }, { attributes, commands }),
    echo: echo === 'none' ? undefined : echo.after,
  };
}

interface Inferred {
  capabilities: Set<CapabilityName>;
  attributes: Record<string, AttributeDecl>;
  commands: Record<string, CommandDecl>;
}

/** A described device has what it declares and what it is seen to do; others have all that is named of them. */
function infer(named: Named, declared: ScenarioDevice | undefined, isDescribed: boolean): Inferred {
  const capabilities = new Set<CapabilityName>(declared?.capabilities);
  const attributes: Record<string, AttributeDecl> = { ...declared?.attributes };
  const commands: Record<string, CommandDecl> = { ...declared?.commands } as Record<string, CommandDecl>;
  const has = (attribute: string) =>
    Object.hasOwn(attributes, attribute) ||
    [...capabilities].some(name => Object.hasOwn(CAPABILITIES[name].attributes, attribute));
  const names = new Set([...named.facts.keys(), ...(isDescribed ? [] : named.wishes.keys())]);
  for (const attribute of names) {
    if (has(attribute)) continue;
    const capability = capabilityOfAttribute(attribute);
    if (capability) capabilities.add(capability);
    else attributes[attribute] = typeOf(attribute, named);
  }
  for (const event of named.events) {
    if (has(event)) continue;
    const capability = capabilityOfAttribute(event);
    if (capability && CAPABILITIES[capability].attributes[event]?.momentary) capabilities.add(capability);
    else if (!capability) attributes[event] = { type: 'json', momentary: true };
  }
  if (isDescribed) return { capabilities, attributes, commands };
  for (const [command, args] of named.commands) {
    if (Object.hasOwn(commands, command)) continue;
    const able = capabilitiesOfCommand(command);
    if (able.some(name => capabilities.has(name))) continue;
    if (able[0]) capabilities.add(ableWith(able, [...named.commands.keys()]));
    else commands[command] = nativeCommand(args);
  }
  return { capabilities, attributes, commands };
}

/** Of several capabilities with a command the one that has most of the device's other commands too. */
function ableWith(able: readonly CapabilityName[], commands: readonly string[]): CapabilityName {
  const shared = (name: CapabilityName) =>
    commands.filter(command => Object.hasOwn(CAPABILITIES[name].commands, command)).length;
  return [...able].sort((a, b) => shared(b) - shared(a))[0] as CapabilityName;
}

/** A command that nobody declares takes what it is given, and what it does is not known. */
const nativeCommand = (args: ReadonlySet<string>): CommandDecl => ({
  args: [...args].map(name => ({ name, type: 'json', optional: true })),
  effects: [],
  idempotent: false,
});

function typeOf(attribute: string, { facts, wishes, numeric }: Named): AttributeDecl {
  if (numeric.has(attribute)) return { type: 'number' };
  const told = (facts.get(attribute) ?? []).filter(value => value !== null);
  const wished = (wishes.get(attribute) ?? []).filter(value => value !== null);
  const types = new Set((told.length > 0 ? told : wished).map(value => typeof value));
  const [type] = types;
  if (types.size === 1 && (type === 'number' || type === 'boolean' || type === 'string')) return { type };
  return { type: 'json' };
}
