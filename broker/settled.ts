// Answers that are there already. aedes awaits its persistence with `then`; a promise would answer a microtask later, and
// of two messages of one tick the retained one would be routed second, whereupon aedes takes the first for a duplicate
// and drops it (moscajs/aedes#994). These call back at once.

/** A thenable that has its value, or its failure, from the start. */
export interface Settled<T> extends PromiseLike<T> {
  finally(fn: () => void): Settled<T>;
}

/** Makes settled answers; what a callback throws goes to `report`, since aedes looks at no second answer. */
export interface Settler {
  ok<T>(value: T): Settled<T>;
  failed(error: Error): Settled<never>;
  /** An answer without a value: the common one, and always the same object. */
  readonly done: Settled<void>;
}

/** Builds a settler. */
export function createSettler(report: (error: unknown) => void): Settler {
  const follow = (value: unknown): Settled<unknown> =>
    value === undefined
      ? done
      : typeof (value as PromiseLike<unknown> | null)?.then === 'function'
        ? (value as Settled<unknown>)
        : make(value, undefined);

  function make<T>(value: T, error: Error | undefined): Settled<T> {
    const settled = {
      then(onValue?: ((value: T) => unknown) | null, onError?: ((reason: unknown) => unknown) | null): unknown {
        try {
          if (error) return onError ? follow(onError(error)) : settled;
          return onValue ? follow(onValue(value)) : settled;
        } catch (thrown) {
          report(thrown);
          return make(undefined, thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
      },
      finally(fn: () => void) {
        fn();
        return settled;
      },
    };
    return settled as Settled<T>;
  }

  const done = make<void>(undefined, undefined);
  return { ok: value => make(value, undefined), failed: error => make<never>(undefined as never, error), done };
}
