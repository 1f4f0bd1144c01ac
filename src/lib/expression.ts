// Expressions (CEL) behind one small interface: compile at save, evaluate at run time. The language as a whole is
// described in docs; its functions are listed by `expressionFunctions`.
import { FUNCTIONS } from './expression/functions.ts';
import { METHODS } from './expression/methods.ts';

export {
  compileExpression,
  type Evaluation,
  type Expected,
  type Expression,
  type ExpressionOptions,
} from './expression/compile.ts';
export type { Names } from './expression/policy.ts';
export { isFreeName, type Scope } from './expression/scope.ts';
export { compileTemplate, hasTemplate, type Template } from './expression/template.ts';

/** Every function and method with how it is written and what it gives, for the docs and for those who author rules. */
export const expressionFunctions: readonly { readonly usage: string; readonly text: string }[] = [
  ...FUNCTIONS.values(),
  ...METHODS.values(),
].map(({ usage, text }) => ({ usage, text }));
