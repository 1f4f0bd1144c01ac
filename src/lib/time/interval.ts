// The interval schedule. It counts elapsed time; wall clocks do not concern it.

/**
 * The first beat strictly after `after` of a beat every `everyMs` that began at `phaseStart`; the first beat is one
 * period after it. All are milliseconds of one and the same clock.
 */
export function nextInterval(phaseStart: number, everyMs: number, after: number): number {
  if (!(everyMs > 0)) throw new RangeError(`not a period: ${everyMs} ms`);
  return phaseStart + everyMs * Math.max(1, Math.floor((after - phaseStart) / everyMs) + 1);
}
