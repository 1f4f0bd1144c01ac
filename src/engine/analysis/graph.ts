// The static graph of rules: R → S where something that R does can start S. It answers before anything fires: cycles, and
// whether one is certain (FORMATS §2.5).
import { hasTemplate } from '../../lib/expression.ts';
import { filtersOverlap } from '../../lib/topic.ts';
import type { Target } from '../../model/target.ts';
import { type Json, valuesEqual } from '../../model/value.ts';
import type { Devices } from '../../state/devices.ts';
import { madeBy } from '../evaluate.ts';
import type { TriggerConfig } from '../kind.ts';
import { type Rule, triggerId } from '../rules/schema.ts';
import type { RuleIndex } from './rule-index.ts';
import { effectsOf, type Write } from './writes.ts';

/** What a trigger of a rule waits for. */
interface Listening {
  readonly trigger: string;
  readonly config: TriggerConfig;
  /** It is the trigger itself, not a part of a sequence or a count. */
  readonly isWhole: boolean;
}

/** A way from one rule to another (or itself). */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** What the one changes: `virtual:b/switch`, `topic a/out`, `variable v`, `mode`. */
  readonly over: string;
  /** The path of the step that does it. */
  readonly path: string;
  readonly trigger: string;
  /** Nothing stands between: no condition, no branch, no comparison that could fail. */
  readonly isCertain: boolean;
}

function* listeningOf(rule: Rule): Generator<Listening> {
  for (const [index, config] of rule.triggers.entries()) {
    if (config.enabled === false) continue;
    yield* parts(triggerId(rule, index), config, true);
  }
}

function* parts(trigger: string, config: TriggerConfig, isWhole: boolean): Generator<Listening> {
  yield { trigger, config, isWhole };
  const { steps, of, without } = config as { steps?: TriggerConfig[]; of?: TriggerConfig; without?: TriggerConfig };
  for (const inner of [...(steps ?? []), ...(of ? [of] : []), ...(without ? [without] : [])])
    yield* parts(trigger, inner, false);
}

/** The rules that a rule can start, with how. */
function edgesFrom(rule: Rule, index: RuleIndex, devices: Devices): Edge[] {
  const writes = effectsOf(rule, devices);
  const asked = new Set(writes.flatMap(write => keysTold(write).flatMap(key => [...index.at(key)])));
  return [...asked].flatMap(to => edgesBetween(rule, writes, to, devices));
}

/** The shortest cycle through a rule, as edges; undefined when there is none. */
export function cycleThrough(rule: Rule, index: RuleIndex, devices: Devices): Edge[] | undefined {
  const cameBy = new Map<string, Edge>();
  let frontier = [rule];
  while (frontier.length > 0 && cameBy.size < MAX_VISITED) {
    const reached: Rule[] = [];
    for (const from of frontier) {
      const edges = edgesFrom(from, index, devices);
      const closing = edges.filter(edge => edge.to === rule.id);
      const last = closing.find(edge => edge.isCertain) ?? closing[0];
      if (last) return wayTo(last, rule.id, cameBy);
      for (const edge of edges) {
        const to = index.get(edge.to);
        if (!to || cameBy.has(edge.to)) continue;
        cameBy.set(edge.to, edge);
        reached.push(to);
      }
    }
    frontier = reached;
  }
  return undefined;
}

/** The keys under which a rule is found by what starts it. */
export const keysOf = (rule: Rule): string[] => [
  `rule ${rule.id}`,
  ...[...listeningOf(rule)].flatMap(({ config }) => keysHeard(config)),
];

/** Cycles longer than any person would follow are not searched for. */
const MAX_VISITED = 2_000;

const idsOf = (target: Target): readonly string[] =>
  typeof target === 'string' ? [target] : Array.isArray(target) ? target : [];

// `*` stands for a target or topic that only a look tells.
function keysHeard(config: TriggerConfig): string[] {
  const c = config as TriggerConfig & Record<string, Json | undefined>;
  const devices = (what: string) => {
    const ids = idsOf(c.device as unknown as Target);
    // An alias can come to mean another device.
    return ids.length > 0 && ids.every(id => id.includes(':')) ? ids.map(id => `${id} ${what}`) : [`* ${what}`];
  };
  switch (config.type) {
    case 'state':
    case 'reported':
    case 'numeric':
      return devices(String(c.attribute));
    case 'event':
      return devices(String(c.name));
    case 'command':
      return devices('$command');
    case 'mqtt':
      return [/[+#]/.test(String(c.topic)) ? 'topic *' : `topic ${c.topic}`];
    case 'variable':
      return [`variable ${c.name}`];
    case 'mode':
      return ['mode'];
    case 'rule':
      return [`end ${c.rule}`];
    default:
      return [];
  }
}

function keysTold(write: Write): string[] {
  switch (write.what) {
    case 'attribute':
      return [`${write.device} ${write.attribute}`, `* ${write.attribute}`];
    case 'command':
      return [`${write.device} $command`, '* $command'];
    case 'topic':
      return ['topic *', ...(write.topic === undefined ? [] : [`topic ${write.topic}`])];
    case 'variable':
      return [`variable ${write.name}`];
    case 'mode':
      return ['mode'];
    case 'run':
      return [`end ${write.rule}`];
    case 'call':
      return [`rule ${write.rule}`];
  }
}

/** The ways from what one rule does to what another waits for. */
function edgesBetween(from: Rule, writes: readonly Write[], to: Rule, devices: Devices): Edge[] {
  const isFree = !from.condition && !from.while && !to.condition && !to.while;
  const calls = writes.flatMap((write): Edge[] => {
    if (write.what !== 'call' || write.rule !== to.id) return [];
    const isCertain = isFree && write.isUnconditional;
    return [{ from: from.id, to: to.id, over: 'call_rule', path: write.path, trigger: 'call_rule', isCertain }];
  });
  const started = [...listeningOf(to)].flatMap(listening => {
    if (listening.config.by !== undefined && !madeBy(listening.config.by, makerOf(from))) return [];
    return writes.flatMap((write): Edge[] => {
      const how = starts(write, listening, to, devices);
      if (how === 'no') return [];
      const isDirect = write.isUnconditional && listening.isWhole && isImmediate(listening.config);
      const edge = { from: from.id, to: to.id, over: overOf(write), path: write.path, trigger: listening.trigger };
      return [{ ...edge, isCertain: how === 'certain' && isFree && isDirect }];
    });
  });
  return [...calls, ...started];
}

const makerOf = (rule: Rule) =>
  ({ root: '', parent: null, depth: 1, path: [], origin: { kind: 'device' }, by: `rule:${rule.id}` }) as const;

/** A trigger that waits, or lets only some pass, breaks or slows a loop. */
const isImmediate = (config: TriggerConfig): boolean =>
  config.for === undefined && config.debounce === undefined && config.throttle === undefined;

const overOf = (write: Write): string => {
  if (write.what === 'attribute') return `${write.device}/${write.attribute}`;
  if (write.what === 'topic') return `topic ${write.topic ?? '(computed)'}`;
  if (write.what === 'variable') return `variable ${write.name}`;
  if (write.what === 'command') return `command ${write.device} ${write.command}`;
  if (write.what === 'call') return 'call_rule';
  return write.what === 'run' ? 'its end' : 'the mode';
};

/** Whose variable a trigger of a rule hears: the rule's own kept one of that name, else the house's. */
const ownerOf = (rule: Rule, variable: string): string | undefined =>
  rule.variables && Object.hasOwn(rule.variables, variable) && rule.variables[variable]?.persist ? rule.id : undefined;

type How = 'certain' | 'possible' | 'no';

function starts(write: Write, { config }: Listening, to: Rule, devices: Devices): How {
  const c = config as TriggerConfig & Record<string, Json | undefined>;
  switch (config.type) {
    case 'state':
    case 'reported':
    case 'numeric':
    case 'event':
      if (write.what !== 'attribute' || !names(c.device, write.device, devices)) return 'no';
      if ((c.attribute ?? c.name) !== write.attribute) return 'no';
      return byValue(write, c, config.type);
    case 'mqtt':
      if (write.what !== 'topic') return 'no';
      if (write.topic !== undefined && !filtersOverlap(String(c.topic), write.topic)) return 'no';
      return byPayload(write, c);
    case 'variable':
      if (write.what !== 'variable' || write.name !== c.name || write.owner !== ownerOf(to, write.name)) return 'no';
      return byValue(write, c, 'variable');
    case 'mode':
      return write.what === 'mode' ? byValue(write, c, 'mode') : 'no';
    case 'command':
      if (write.what !== 'command' || !names(c.device, write.device, devices)) return 'no';
      if (c.command !== undefined && c.command !== write.command) return 'no';
      return 'possible';
    case 'rule':
      return write.what === 'run' && c.rule === write.rule ? 'possible' : 'no';
    default:
      return 'no';
  }
}

function names(target: Json | undefined, device: string, devices: Devices): boolean {
  return target !== undefined && devices.members(target as unknown as Target).includes(device);
}

const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [value as Json]);
const among = (value: Json, wanted: Json | undefined): boolean => asList(wanted).some(one => valuesEqual(one, value));
const isNumber = (value: Json | undefined): value is number => typeof value === 'number';

/**
 * Whether a written value starts a trigger on it. A constant is a change once only, so no loop of it is certain; what is
 * another each time (a toggle, an addition) is.
 */
function byValue(write: Write, c: Record<string, Json | undefined>, type: string): How {
  const { value } = write;
  if (value.kind === 'constant') {
    if (c.to !== undefined && !among(value.is, c.to)) return 'no';
    if (c.not_to !== undefined && among(value.is, c.not_to)) return 'no';
    if (type === 'reported' && c.is !== undefined && !among(value.is, c.is)) return 'no';
    if (type === 'event' && c.value !== undefined && !among(value.is, c.value)) return 'no';
    if (isNumber(value.is) && isNumber(c.above) && value.is <= c.above) return 'no';
    if (isNumber(value.is) && isNumber(c.below) && value.is >= c.below) return 'no';
    return type === 'event' ? 'certain' : 'possible';
  }
  const compares = ['from', 'to', 'not_from', 'not_to', 'is', 'above', 'below', 'value', 'match'];
  const isPlain = compares.every(field => c[field] === undefined);
  return value.kind === 'moving' && isPlain ? 'certain' : 'possible';
}

function byPayload(write: Extract<Write, { what: 'topic' }>, c: Record<string, Json | undefined>): How {
  const compares = ['path', 'is', 'from', 'to', 'above', 'below'].filter(field => c[field] !== undefined);
  const isInside = write.topic !== undefined && !hasTemplate(write.topic);
  if (compares.length === 0) return isInside ? 'certain' : 'possible';
  if (write.value.kind !== 'constant') return 'possible';
  if (compares.every(field => field === 'is')) {
    if (!among(write.value.is, c.is)) return 'no';
    return isInside ? 'certain' : 'possible';
  }
  return 'possible';
}

function wayTo(last: Edge, start: string, cameBy: ReadonlyMap<string, Edge>): Edge[] {
  const way = [last];
  while ((way[0] as Edge).from !== start) way.unshift(cameBy.get((way[0] as Edge).from) as Edge);
  return way;
}
