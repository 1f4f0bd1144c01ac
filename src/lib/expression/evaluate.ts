// A checked syntax tree as closures: built once, run often. Every part that may fault says first where it stands. The
// closures are made in functions of their own, so that none keeps the syntax tree alive.
import type { ASTNode } from '@marcbachmann/cel-js';
import { type Callable, COST, Fault, type Frame, type Place, spend } from './frame.ts';
import { FUNCTIONS } from './functions.ts';
import { typeOf } from './language.ts';
import { METHODS, ZONE_WANTED } from './methods.ts';
import { divideInts, negate, OPERATORS, type Operator } from './operators.ts';
import { isMacro, type Reject } from './policy.ts';
import type { RootName } from './scope.ts';
import { asBool, asText, fieldOf, isFields, isForbiddenKey, isList, kindOf, payItems, timestamp } from './values.ts';

/** A part of an expression, ready to run. */
export type Part = (frame: Frame) => unknown;

/** Builds the closures of a tree that `inspect` and the type checker have passed. */
export function build(node: ASTNode, reject: Reject, variable?: string): Part {
  const part = (child: ASTNode): Part => build(child, reject, variable);
  const place: Place = { start: node.start, end: node.end };
  switch (node.op) {
    case 'value':
      return constant(typeof node.args === 'bigint' ? Number(node.args) : node.args);
    case 'id':
      return node.args === variable ? readItem : readName(node.args, place);
    case '.':
      return access(lookup(node.args[0], constant(node.args[1]), part, place));
    case '[]':
      return access(lookup(node.args[0], part(node.args[1]), part, place));
    case 'call': {
      const [name, args] = node.args;
      if (name === 'has') return has(args[0] as ASTNode, part, place);
      return call(FUNCTIONS.get(name) as Callable, args.map(part), place);
    }
    case 'rcall': {
      const [name, receiver, args] = node.args;
      if (isMacro(name, args.length)) {
        const [own, ...bodies] = args as [ASTNode, ...ASTNode[]];
        const parts = bodies.map(body => build(body, reject, own.args as string));
        return macro(MACROS[name as keyof typeof MACROS], part(receiver), parts, place);
      }
      if (args.length === 0 && name !== 'size' && typeOf(receiver) === 'google.protobuf.Timestamp') {
        reject(node, `${name}() needs a zone`, ZONE_WANTED);
      }
      return call(METHODS.get(name) as Callable, [receiver, ...args].map(part), place);
    }
    case 'list':
      return list(node.args.map(part));
    case 'map':
      return map(
        node.args.map(([key, value]) => [part(key), part(value)]),
        place,
      );
    case '?:':
      return choose(part(node.args[0]), part(node.args[1]), part(node.args[2]), place);
    case '||':
      return decide(part(node.args[0]), part(node.args[1]), true, place);
    case '&&':
      return decide(part(node.args[0]), part(node.args[1]), false, place);
    case '!_':
      return unary(part(node.args), value => !asBool(value), place);
    case '-_':
      return unary(part(node.args), negate, place);
    case '.?':
    case '[?]':
      return reject(node, 'optional access is not known here', 'has(a.b) tells whether a field is there');
    default: {
      const [left, right] = node.args;
      const ints = node.op === '/' && typeOf(left) === 'int' && typeOf(right) === 'int';
      return binary(part(left), part(right), ints ? divideInts : OPERATORS[node.op], place);
    }
  }
}

const constant =
  (value: unknown): Part =>
  () =>
    value;

const readItem: Part = frame => frame.item;

const NOTHING = {};

const ROOT_READERS: Readonly<Record<Exclude<RootName, 'vars'>, Part>> = {
  trigger: ({ scope }) => (scope.trigger ? { ...scope.trigger, at: timestamp(scope.trigger.at) } : NOTHING),
  args: ({ scope }) => scope.args ?? NOTHING,
  repeat: ({ scope }) => scope.repeat ?? NOTHING,
  mode: ({ scope }) => scope.mode,
  now: ({ scope }) => timestamp(scope.now),
  sun: ({ scope }) => scope.sun ?? NOTHING,
};

function readName(name: string, place: Place): Part {
  if (Object.hasOwn(ROOT_READERS, name)) return ROOT_READERS[name as keyof typeof ROOT_READERS];
  return frame => {
    const { bindings } = frame.scope;
    if (bindings && Object.hasOwn(bindings, name)) return bindings[name];
    frame.at = place;
    throw new Fault(`nothing is bound as "${name}" yet`);
  };
}

/** The value of a field, undefined when it is not there. `vars` is no map but a question to the scope. */
function lookup(base: ASTNode, key: Part, part: (node: ASTNode) => Part, place: Place): Part {
  return isVars(base) ? variable(key, place) : field(part(base), key, place);
}

const isVars = (node: ASTNode): boolean => node.op === 'id' && node.args === 'vars';

function variable(key: Part, place: Place): Part {
  return frame => {
    const name = key(frame);
    frame.at = place;
    return frame.scope.vars(asText(name));
  };
}

function field(object: Part, key: Part, place: Place): Part {
  return frame => {
    const value = object(frame);
    const name = key(frame);
    frame.at = place;
    return fieldOf(value, name);
  };
}

function access(read: Part): Part {
  return frame => {
    const value = read(frame);
    if (value !== undefined) return value;
    throw new Fault('it has no value');
  };
}

/** `has(a.b)`: whether the last field is there; the ones before it must be. */
function has(node: ASTNode, part: (node: ASTNode) => Part, place: Place): Part {
  const [base, key] = node.args as [ASTNode, string];
  return isVars(base) ? hasVariable(key) : hasField(part(base), key, place);
}

const hasVariable =
  (name: string): Part =>
  frame =>
    frame.scope.vars(name) !== undefined;

function hasField(object: Part, key: string, place: Place): Part {
  return frame => {
    const value = object(frame);
    frame.at = place;
    return isFields(value) && fieldOf(value, key) !== undefined;
  };
}

function unary(operand: Part, operator: (value: unknown) => unknown, place: Place): Part {
  return frame => {
    const value = operand(frame);
    frame.at = place;
    return operator(value);
  };
}

function binary(left: Part, right: Part, operator: Operator, place: Place): Part {
  return frame => {
    const a = left(frame);
    const b = right(frame);
    frame.at = place;
    return operator(a, b, frame);
  };
}

function call({ run }: Callable, args: readonly Part[], place: Place): Part {
  const [first, second] = args;
  if (first && second && args.length === 2) return binary(first, second, (a, b, frame) => run(pay(frame), a, b), place);
  return frame => {
    const values = args.map(arg => arg(frame));
    frame.at = place;
    return run(pay(frame), ...values);
  };
}

function pay(frame: Frame): Frame {
  spend(frame, COST.call);
  return frame;
}

function list(items: readonly Part[]): Part {
  return frame => items.map(item => item(frame));
}

function map(entries: readonly (readonly Part[])[], place: Place): Part {
  return frame => {
    const made: Record<string, unknown> = {};
    for (const [key, value] of entries as readonly (readonly [Part, Part])[]) {
      const name = key(frame);
      frame.at = place;
      if (isForbiddenKey(asText(name))) throw new Fault(`"${name}" cannot be a key`);
      made[name as string] = value(frame);
    }
    return made;
  };
}

function truth(part: Part, frame: Frame, place: Place): boolean {
  const value = part(frame);
  frame.at = place;
  return asBool(value);
}

function choose(condition: Part, yes: Part, no: Part, place: Place): Part {
  return frame => (truth(condition, frame, place) ? yes(frame) : no(frame));
}

/** `||` (decisive: true) and `&&` (false): a side that faults does not matter when the other one decides. */
function decide(left: Part, right: Part, decisive: boolean, place: Place): Part {
  return frame => {
    let fault: Fault | undefined;
    try {
      if (truth(left, frame, place) === decisive) return decisive;
    } catch (thrown) {
      fault = bearable(thrown, frame);
    }
    if (truth(right, frame, place) === decisive) return decisive;
    if (fault) throw fault;
    return !decisive;
  };
}

function bearable(thrown: unknown, frame: Frame): Fault {
  if (!(thrown instanceof Fault) || thrown.fatal) throw thrown;
  thrown.at ??= frame.at;
  spend(frame, COST.fault);
  return thrown;
}

type OnItem = (item: unknown) => unknown;

/** What each macro does with its items: `first` runs its first body on an item, `last` its last (mostly the same). */
type Macro = (items: readonly unknown[], frame: Frame, first: OnItem, last: OnItem) => unknown;

const MACROS = {
  all: (items, frame, test) => quantify(items, frame, test, false),
  exists: (items, frame, test) => quantify(items, frame, test, true),
  exists_one: (items, _frame, test) => items.filter(item => asBool(test(item))).length === 1,
  filter: (items, _frame, test) => items.filter(item => asBool(test(item))),
  map: (items, _frame, first, last) =>
    (first === last ? items : items.filter(item => asBool(first(item)))).map(item => last(item)),
} as const satisfies Record<string, Macro>;

function macro(run: Macro, source: Part, bodies: readonly Part[], place: Place): Part {
  return frame => {
    const range = source(frame);
    frame.at = place;
    const items = isList(range) ? range : isFields(range) ? Object.keys(range) : undefined;
    if (!items) throw new Fault(`${kindOf(range)} is no list`);
    payItems(frame, items.length);
    const [first, last = first] = bodies.map(body => (item: unknown) => {
      spend(frame, 1);
      frame.item = item;
      return body(frame);
    }) as [OnItem, OnItem?];
    return run(items, frame, first, last);
  };
}

/** `exists` (decisive: true) and `all` (false): an item that faults does not matter when another one decides. */
function quantify(items: readonly unknown[], frame: Frame, test: OnItem, decisive: boolean): boolean {
  let fault: Fault | undefined;
  for (const item of items) {
    try {
      if (asBool(test(item)) === decisive) return decisive;
    } catch (thrown) {
      const borne = bearable(thrown, frame);
      fault ??= borne;
    }
  }
  if (fault) throw fault;
  return !decisive;
}
