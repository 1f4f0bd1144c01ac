// Several reasons to give up, as one signal. AbortSignal.any leaves something behind in a signal that lives long with each
// call (measured on Node 20: a gateway that runs for months would feel it).

/** Runs a task with a signal that is aborted with any of these. */
export async function withSignals<T>(
  signals: readonly (AbortSignal | undefined)[],
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const any = new AbortController();
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    if (signal.aborted) any.abort(signal.reason);
    const onAbort = () => any.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    undo.push(() => signal.removeEventListener('abort', onAbort));
  }
  try {
    return await task(any.signal);
  } finally {
    for (const step of undo) step();
  }
}
