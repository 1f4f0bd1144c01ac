// Asked once before every operation, whatever the view: scopes, the house's switches, confirmation, the input's shape.
// Around it an audit record is written.
import type { z } from 'zod';
import { asCausewayError, CausewayError } from '../lib/errors.ts';
import { check, pathText } from '../lib/problems.ts';
import type { Json } from '../model/value.ts';
import type { AuditRecord } from '../store/store.ts';
import type { Scope } from './roles.ts';

/** The house's switches, from the section `security`. */
export interface Switches {
  readonly reads: boolean;
  readonly writes: boolean;
  /** Operation → false where it is switched off. */
  readonly ops: Readonly<Record<string, boolean>>;
}

/** What policy looks at of an operation. */
export interface Ruled {
  readonly name: string;
  readonly effect: 'read' | 'write' | 'destructive' | 'admin';
  readonly scope: Scope;
  readonly input: z.ZodObject;
}

/** What policy looks at of a call. */
export interface Call {
  readonly caller: { readonly principal: string; readonly scopes: ReadonlySet<Scope>; readonly via: string };
  readonly dryRun: boolean;
}

const SECRETS = new Set(['password', 'token', 'secret']);
const MAX_AUDITED = 4_000;

/** The input as the operation wants it. @throws FORBIDDEN, SWITCHED_OFF, INPUT_INVALID, CONFIRM_REQUIRED */
function permit(op: Ruled, input: unknown, call: Call, switches: Switches): Record<string, unknown> {
  if (!call.caller.scopes.has(op.scope)) {
    throw new CausewayError('FORBIDDEN', `${call.caller.principal} may not ${op.name.replaceAll('_', ' ')}`, {
      hint: `it wants the scope ${op.scope}; an admin can give it`,
    });
  }
  const isRead = op.effect === 'read';
  // A single operation may be switched on again where its master is off.
  const isOn = switches.ops[op.name] ?? (isRead ? switches.reads : switches.writes);
  if (!isOn) {
    const own = switches.ops[op.name] === false;
    const what = own ? op.name : `all ${isRead ? 'reading' : 'writing'} operations`;
    throw new CausewayError('SWITCHED_OFF', `${what} ${own ? 'is' : 'are'} switched off`, {
      hint: `security.${own ? `ops.${op.name}` : isRead ? 'reads' : 'writes'} in config.yaml`,
    });
  }
  const checked = check(op.input, input ?? {});
  if (!checked.ok) {
    const [first] = checked.issues;
    const more = checked.issues.length > 1 ? ` (and ${checked.issues.length - 1} more)` : '';
    const path = pathText(first?.path ?? []);
    throw new CausewayError('INPUT_INVALID', `${path || op.name}: ${first?.message ?? 'does not fit'}${more}`, {
      path,
      ...(first?.hint !== undefined && { hint: first.hint }),
      details: {
        issues: checked.issues.map(issue => ({ path: pathText(issue.path), message: issue.message, hint: issue.hint })),
      },
    });
  }
  const value = checked.value as Record<string, unknown>;
  if (op.effect === 'destructive' && !call.dryRun && value.confirm !== true) {
    throw new CausewayError('CONFIRM_REQUIRED', `${op.name} takes something away and wants to be confirmed`, {
      path: 'confirm',
      hint: 'call it again with confirm: true, or with dry_run to see what it would do',
    });
  }
  return value;
}

/** Runs an operation under policy, with its audit record (reads leave none, unless they were denied). */
export async function ruled<R>(
  op: Ruled,
  input: unknown,
  call: Call,
  parts: { switches: Switches; now: () => number; audit: (record: AuditRecord) => void },
  run: (input: Record<string, unknown>) => Promise<R>,
): Promise<R> {
  const record = (outcome: AuditRecord['outcome'], code?: string) =>
    parts.audit({
      at: parts.now(),
      principal: call.caller.principal,
      via: call.caller.via,
      op: op.name,
      input: redacted(input),
      outcome,
      ...(code !== undefined && { code }),
    });
  let value: Record<string, unknown>;
  try {
    value = permit(op, input, call, parts.switches);
  } catch (error) {
    record('denied', asCausewayError(error).code);
    throw error;
  }
  try {
    const result = await run(value);
    if (op.effect !== 'read' && !call.dryRun) record('ok');
    return result;
  } catch (error) {
    if (op.effect !== 'read') record('failed', asCausewayError(error).code);
    throw asCausewayError(error);
  }
}

function redacted(input: unknown): Json {
  const text = JSON.stringify(input ?? {}, (key, value: unknown) => (SECRETS.has(key) ? '***' : value));
  return text.length > MAX_AUDITED ? { truncated: text.slice(0, MAX_AUDITED) } : (JSON.parse(text) as Json);
}
