// The CEL library, used for what it does best: it parses and checks types. Evaluating is ours (evaluate.ts), because its
// built-ins cannot be replaced (`matches` hangs on a hostile pattern, timestamps read the process's zone), its work
// cannot be metered, and its ints are bigints.
import { type ASTNode, Environment, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { type Callable, LIMITS } from './frame.ts';
import { FUNCTIONS } from './functions.ts';
import { METHODS } from './methods.ts';
import { FIELDS, ROOTS } from './scope.ts';

/** What the library says of a text that does not parse or check. */
export type Complaint = ParseError | TypeFault;

export const isComplaint = (thrown: unknown): thrown is Complaint =>
  thrown instanceof ParseError || thrown instanceof TypeFault;

/** A parsed expression; `check` gives its CEL type, or throws a `Complaint`. */
export interface Parsed {
  readonly ast: ASTNode;
  check(): string;
}

// The library would call these; it only ever asks for their types.
const uncalled = () => undefined;

function createEnvironment(): Environment {
  const environment = new Environment({
    // What `as` binds has no declared type; names are checked in policy.ts, with a suggestion.
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: LIMITS.nodes,
      maxDepth: LIMITS.depth,
      maxListElements: LIMITS.literal,
      maxMapEntries: LIMITS.literal,
      maxCallArguments: LIMITS.callArguments,
    },
  });
  for (const [name, fields] of Object.entries(FIELDS)) environment.registerType(name, { fields: { ...fields } });
  for (const [name, type] of Object.entries(ROOTS)) environment.registerVariable(name, type);
  const callables: Callable[] = [...FUNCTIONS.values(), ...METHODS.values()];
  for (const signature of callables.flatMap(callable => callable.signatures ?? [])) {
    environment.registerFunction(signature, uncalled, { async: false });
  }
  for (const signature of mixedNumbers()) environment.registerOperator(signature, uncalled);
  return environment;
}

// CEL does not mix int and double, but numbers from outside are doubles and people write `n + 1`.
function mixedNumbers(): string[] {
  const arithmetic = ['+', '-', '*', '/', '%'].flatMap(op => [`int ${op} double: double`, `double ${op} int: double`]);
  return [
    ...arithmetic,
    'double % double: double',
    'int == double: bool',
    'int in list<double>: bool',
    'double in list<int>: bool',
    'Attribute == null: bool',
  ];
}

const environment = createEnvironment();

/** Parses a source; throws a `Complaint`. */
export function parse(source: string): Parsed {
  const parsed = environment.parse(source);
  return {
    ast: parsed.ast,
    check() {
      const result = parsed.check();
      if (result.error) throw result.error;
      return result.type ?? 'dyn';
    },
  };
}

/** The type that the checker gave to a part. The library keeps it at the node, outside its declared interface. */
export const typeOf = (node: ASTNode): string =>
  (node as { checkedType?: { name: string } }).checkedType?.name ?? 'dyn';
