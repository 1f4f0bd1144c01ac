// THE topic tree (DESIGN §5): built and parsed here alone.
import { decodeLevel, encodeLevel } from '../lib/topic.ts';
import { backendOf, nativeIdOf } from '../model/device.ts';

/** What an outside publish under the root asks for. */
export type BusInput =
  /** Values by attribute, or one bare value of an attribute. */
  | { kind: 'set'; device: string; attribute: string | undefined }
  | { kind: 'command'; device: string; command: string }
  | { kind: 'rule_set'; rule: string }
  | { kind: 'rule_run'; rule: string }
  | { kind: 'mode_set' }
  | { kind: 'variable_set'; variable: string }
  | { kind: 'request'; op: string };

/** Builds the topics of a root and parses the inputs among them. */
export interface Topics {
  readonly root: string;
  bridgeState(): string;
  bridgeInfo(): string;
  backendState(backend: string): string;
  device(id: string, what: 'meta' | 'state' | 'availability'): string;
  event(device: string, attribute: string): string;
  flow(backend: string, site: string): string;
  command(device: string): string;
  result(device: string): string;
  rule(id: string, what: 'state' | 'event'): string;
  guard(what: 'state' | 'event'): string;
  modeState(): string;
  variableState(name: string): string;
  response(op: string): string;
  /** Under the root at all. */
  isOurs(topic: string): boolean;
  /** undefined for what is no input. */
  parseInput(topic: string): BusInput | undefined;
}

const levels = (device: string) => `${encodeLevel(backendOf(device))}/${encodeLevel(nativeIdOf(device))}`;

/** The tree under a root (`causeway`, or several levels). */
export function topicsOf(root: string): Topics {
  const under = `${root}/`;
  return {
    root,
    bridgeState: () => `${root}/bridge/state`,
    bridgeInfo: () => `${root}/bridge/info`,
    backendState: backend => `${root}/backend/${encodeLevel(backend)}/state`,
    device: (id, what) => `${root}/device/${levels(id)}/${what}`,
    event: (device, attribute) => `${root}/event/${levels(device)}/${encodeLevel(attribute)}`,
    flow: (backend, site) => `${root}/flow/${encodeLevel(backend)}/${encodeLevel(site)}`,
    command: device => `${root}/command/${levels(device)}`,
    result: device => `${root}/result/${levels(device)}`,
    rule: (id, what) => `${root}/rule/${encodeLevel(id)}/${what}`,
    guard: what => `${root}/guard/${what}`,
    modeState: () => `${root}/mode/state`,
    variableState: name => `${root}/variable/${encodeLevel(name)}/state`,
    response: op => `${root}/bridge/response/${encodeLevel(op)}`,
    isOurs: topic => topic === root || topic.startsWith(under),
    parseInput: topic => (topic.startsWith(under) ? parse(topic.slice(under.length).split('/')) : undefined),
  };
}

function parse(parts: string[]): BusInput | undefined {
  const [head, a, b, verb, name] = parts;
  const ids = parts.slice(1).map(decodeLevel);
  if (ids.includes(undefined)) return undefined;
  const id = (index: number) => ids[index - 1] as string;
  switch (head) {
    case 'device': {
      if (a === undefined || b === undefined) return undefined;
      const device = `${id(1)}:${id(2)}`;
      if (verb === 'set' && parts.length <= 5)
        return { kind: 'set', device, attribute: name === undefined ? undefined : id(4) };
      return verb === 'command' && parts.length === 5 ? { kind: 'command', device, command: id(4) } : undefined;
    }
    case 'rule':
      if (parts.length !== 3) return undefined;
      return b === 'set'
        ? { kind: 'rule_set', rule: id(1) }
        : b === 'run'
          ? { kind: 'rule_run', rule: id(1) }
          : undefined;
    case 'mode':
      return parts.length === 2 && a === 'set' ? { kind: 'mode_set' } : undefined;
    case 'variable':
      return parts.length === 3 && b === 'set' ? { kind: 'variable_set', variable: id(1) } : undefined;
    case 'bridge':
      return parts.length === 3 && a === 'request' ? { kind: 'request', op: id(2) } : undefined;
    default:
      return undefined;
  }
}
