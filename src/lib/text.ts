// Small things with text that several folders need.

/** Edits from one name to the other, a swapped pair of neighbours counting as one; cut off at `limit` + 1. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(substitution, (row[j] as number) + 1, (next[j - 1] as number) + 1, swap));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}

/** The known name that was probably meant, if one is near enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: { name: string; at: number } | undefined;
  for (const candidate of known) {
    const at = distance(name.toLowerCase(), candidate.toLowerCase(), limit);
    if (at <= limit && (!best || at < best.at)) best = { name: candidate, at };
  }
  return best?.name;
}

/** A sentence that names the nearest known name, or the first few. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const all = [...known];
  const near = nearest(name, all);
  if (near) return `did you mean "${near}"?`;
  if (all.length === 0) return 'there are none';
  const some = all.slice(0, 8).join(', ');
  return all.length > 8 ? `known are ${some}, … (${all.length})` : `known are ${some}`;
}
