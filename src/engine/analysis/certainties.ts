// What can be told of conditions without a look at the house: that some can never hold together, and some always do.
import { canonical } from '../../lib/json.ts';
import type { Json } from '../../model/value.ts';
import { isComputed } from './writes.ts';

type Config = Record<string, Json | undefined>;

/** What a plain condition asks of its subject. */
type Claim =
  | { kind: 'among'; values: readonly string[] }
  | { kind: 'not_among'; values: readonly string[] }
  | { kind: 'between'; above: number; below: number };

/** What a condition is about: one attribute of one device, the mode, a variable. */
function subjectOf(c: Config): string | undefined {
  if (c.type === 'mode') return 'mode';
  if (c.type === 'variable') return `variable ${c.name}`;
  const isOne = typeof c.device === 'string' && c.match === undefined && c.for === undefined && c.by === undefined;
  return (c.type === 'state' || c.type === 'numeric') && isOne ? `${c.device}/${c.attribute}` : undefined;
}

function claimsOf(c: Config): Claim[] {
  const claims: Claim[] = [];
  const values = (field: Json | undefined) => [field].flat().map(value => canonical(value));
  if (c.is !== undefined && !isComputed(c.is)) claims.push({ kind: 'among', values: values(c.is) });
  if (c.is_not !== undefined && !isComputed(c.is_not)) claims.push({ kind: 'not_among', values: values(c.is_not) });
  const { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY } = c;
  const isBounded =
    (c.above !== undefined || c.below !== undefined) && typeof above === 'number' && typeof below === 'number';
  if (isBounded) claims.push({ kind: 'between', above, below });
  return claims;
}

/** Claims by subject, of conditions side by side. */
function bySubject(conditions: readonly Config[]): Map<string, Claim[][]> {
  const found = new Map<string, Claim[][]>();
  for (const condition of conditions) {
    const subject = subjectOf(condition);
    if (subject !== undefined) found.set(subject, [...(found.get(subject) ?? []), claimsOf(condition)]);
  }
  return found;
}

/** The subject on which conditions of an `and` exclude each other. */
export function excluding(conditions: readonly Config[]): string | undefined {
  for (const [subject, claims] of bySubject(conditions)) if (areExclusive(claims.flat())) return subject;
  return undefined;
}

function areExclusive(claims: readonly Claim[]): boolean {
  const [first, ...others] = claims.filter(claim => claim.kind === 'among').map(claim => claim.values);
  const banned = claims.filter(claim => claim.kind === 'not_among').flatMap(claim => claim.values);
  const between = claims.filter(claim => claim.kind === 'between');
  const above = Math.max(...between.map(claim => claim.above));
  const below = Math.min(...between.map(claim => claim.below));
  if (between.length > 0 && above >= below) return true;
  if (!first) return false;
  return !first.some(value => {
    const n = Number(value);
    const isInside = between.length === 0 || Number.isNaN(n) || (n > above && n < below);
    return isInside && others.every(list => list.includes(value)) && !banned.includes(value);
  });
}

/** The subject on which one condition of an `or` always holds (where it is known at all). */
export function covering(conditions: readonly Config[]): string | undefined {
  for (const [subject, claims] of bySubject(conditions)) {
    // Each alternative has to be one claim; two at once are less than either.
    if (doCover(claims.filter(alternative => alternative.length === 1).flat())) return subject;
  }
  return undefined;
}

function doCover(claims: readonly Claim[]): boolean {
  const allowed = claims.filter(claim => claim.kind === 'among').flatMap(claim => claim.values);
  const isRest = claims.some(
    claim => claim.kind === 'not_among' && claim.values.every(value => allowed.includes(value)),
  );
  const open = claims.filter(claim => claim.kind === 'between');
  const downTo = Math.min(...open.filter(claim => claim.below === Number.POSITIVE_INFINITY).map(claim => claim.above));
  const upTo = Math.max(...open.filter(claim => claim.above === Number.NEGATIVE_INFINITY).map(claim => claim.below));
  return isRest || downTo < upTo;
}
