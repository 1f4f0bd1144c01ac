// What is checked of a syntax tree beyond its types: every name is known, nothing is called that is not ours, macros do
// not nest. On the way the names are gathered that say when to evaluate again.
import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean, nearest } from '../text.ts';
import { FUNCTIONS } from './functions.ts';
import { METHODS } from './methods.ts';
import { FIELDS, isFreeName, ROOTS } from './scope.ts';
import { isForbiddenKey } from './values.ts';

/** What an expression reads, as far as literals tell. */
export interface Names {
  /** Of `state("…", "…")` and `attr("…", "…")`, as written. */
  readonly states: readonly { readonly device: string; readonly attribute: string }[];
  readonly variables: readonly string[];
  readonly mode: boolean;
  readonly now: boolean;
  readonly sun: boolean;
  /** An id, attribute or variable is computed: what it names is not in the lists. */
  readonly dynamic: boolean;
}

/** Throws the error for a place. */
export type Reject = (node: ASTNode, message: string, hint?: string) => never;

// The macros that run over a list (or the keys of a map), with the numbers of arguments that they take.
const MACROS = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

/** Whether a method call is a macro. */
export const isMacro = (name: string, args: number): boolean => MACROS.get(name)?.includes(args) ?? false;

// What CEL has, or people try, and what to use here.
const ELSEWHERE = new Map([
  ['matches', 'regular expressions can run away; use like(text, "kitchen*") with * and ?'],
  ['now', 'now is a value: write now'],
  ['uint', 'use int(x)'],
  ['type', 'use num(x, default), or compare the value itself'],
]);

/** Checks the tree and gathers its names. `known` holds what may stand at the beginning of a path. */
export function inspect(root: ASTNode, known: ReadonlySet<string>, reject: Reject): Names {
  const states = new Map<string, Names['states'][number]>();
  const variables = new Set<string>();
  const seen = { mode: false, now: false, sun: false, dynamic: false };

  // `own` is the variable of the macro in whose body the node stands.
  function visit(node: ASTNode, own?: string): void {
    switch (node.op) {
      case 'value':
        checkLiteral(node, reject);
        break;
      case 'id':
        visitName(node, node.args, own);
        break;
      case '.':
        visitField(node, node.args[0], node.args[1], own);
        break;
      case '[]':
        visitField(node, node.args[0], literalText(node.args[1]), own);
        visit(node.args[1], own);
        break;
      case 'call':
        visitCall(node, node.args[0], node.args[1]);
        for (const arg of node.args[1]) visit(arg, own);
        break;
      case 'rcall':
        visitMethod(node, node.args[0], node.args[1], node.args[2], own);
        break;
      case 'map':
        for (const [key] of node.args) checkKey(key, reject);
        for (const part of node.args.flat()) visit(part, own);
        break;
      case '?:':
        alignNumbers(node);
        for (const part of node.args) visit(part, own);
        break;
      default:
        for (const part of [node.args].flat() as ASTNode[]) visit(part, own);
    }
  }

  function visitName(node: ASTNode, name: string, own?: string): void {
    if (name === own) return;
    if (!known.has(name)) {
      if (Object.hasOwn(ROOTS, name)) reject(node, `"${name}" is not available here`);
      const callable = FUNCTIONS.get(name);
      if (callable) reject(node, `"${name}" is a function`, `it is written ${callable.usage}`);
      const literal = nearest(name, ['true', 'false', 'null']);
      reject(node, `there is no "${name}"`, didYouMean(name, literal ? [literal] : own ? [own, ...known] : known));
    }
    if (name === 'vars') reject(node, 'a variable is read by its name', 'for example vars.count');
    if (name === 'mode' || name === 'now' || name === 'sun') seen[name] = true;
  }

  function visitField(node: ASTNode, base: ASTNode, key: string | undefined, own?: string): void {
    if (base.op === 'id' && base.args === 'vars' && known.has('vars')) {
      if (key === undefined) seen.dynamic = true;
      else variables.add(key);
      return;
    }
    visit(base, own);
    const fields = closedFields(base);
    if (fields && key !== undefined && !Object.hasOwn(fields, key)) {
      reject(node, `${base.op === 'id' ? base.args : 'attr(…)'} has no "${key}"`, didYouMean(key, Object.keys(fields)));
    }
  }

  function visitCall(node: ASTNode, name: string, args: readonly ASTNode[]): void {
    if (name !== 'has' && !FUNCTIONS.has(name)) {
      const method = METHODS.get(name);
      const hint = method ? `it is written ${method.usage}` : didYouMean(name, FUNCTIONS.keys());
      reject(node, `there is no function "${name}"`, ELSEWHERE.get(name) ?? hint);
    }
    if (name !== 'state' && name !== 'attr') return;
    const [device, attribute] = args.map(literalText);
    if (device === undefined || attribute === undefined) seen.dynamic = true;
    else states.set(`${device}\n${attribute}`, { device, attribute });
  }

  function visitMethod(node: ASTNode, name: string, base: ASTNode, args: readonly ASTNode[], own?: string): void {
    visit(base, own);
    if (isMacro(name, args.length)) {
      if (own !== undefined) {
        reject(
          node,
          `${name}() stands inside another such call`,
          'they do not nest; set a variable to the inner one first',
        );
      }
      const [variable, ...bodies] = args as [ASTNode, ...ASTNode[]];
      const chosen = variable.op === 'id' ? variable.args : '';
      if (!isFreeName(chosen) || known.has(chosen))
        reject(variable, 'the variable needs a name of its own, for example x');
      for (const body of bodies) visit(body, chosen);
      return;
    }
    if (!METHODS.has(name) && !MACROS.has(name)) {
      const callable = FUNCTIONS.get(name);
      const hint = callable
        ? `it is written ${callable.usage}`
        : didYouMean(name, [...METHODS.keys(), ...MACROS.keys()]);
      reject(node, `there is no method "${name}"`, ELSEWHERE.get(name) ?? hint);
    }
    for (const arg of args) visit(arg, own);
  }

  visit(root);
  return { states: [...states.values()], variables: [...variables], ...seen };
}

/** The fields of the names, and of `attr(…)`, that have no others. */
function closedFields(base: ASTNode): Readonly<Record<string, string>> | undefined {
  if (base.op === 'call') return base.args[0] === 'attr' ? FIELDS.Attribute : undefined;
  if (base.op !== 'id' || !Object.hasOwn(ROOTS, base.args)) return undefined;
  return FIELDS[ROOTS[base.args as keyof typeof ROOTS]];
}

const literalText = (node: ASTNode): string | undefined =>
  node.op === 'value' && typeof node.args === 'string' ? node.args : undefined;

function checkLiteral(node: ASTNode, reject: Reject): void {
  const value = node.args;
  if (typeof value === 'bigint' && value > BigInt(Number.MAX_SAFE_INTEGER)) reject(node, 'the number is too large');
  if (typeof value === 'object' && value !== null) reject(node, 'only plain numbers and texts are known here');
}

function checkKey(key: ASTNode, reject: Reject): void {
  if (key.op !== 'value') return;
  if (typeof key.args !== 'string') reject(key, 'a key is a text', 'put it in quotes');
  else if (isForbiddenKey(key.args)) reject(key, `"${key.args}" cannot be a key`);
}

// The checker refuses `hot ? 1 : 0.5`; an int literal beside a double literal is meant as a double.
function alignNumbers(ternary: ASTNode): void {
  const leaves = branches(ternary);
  if (!leaves.some(leaf => typeof leaf.args === 'number')) return;
  for (const leaf of leaves) {
    if (typeof leaf.args === 'bigint') (leaf as { args: unknown }).args = Number(leaf.args);
  }
}

function branches(node: ASTNode): ASTNode[] {
  if (node.op === '?:') return [...branches(node.args[1]), ...branches(node.args[2])];
  return [node.op === '-_' ? node.args : node];
}
