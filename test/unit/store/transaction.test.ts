// Lazy changes that could not be stored wait again, and never take the place of newer ones.
import { describe, expect, it } from 'vitest';
import { TurnTransaction } from '../../../src/store/transaction.ts';

const valuesOf = (changes: { key: string; value: unknown }[]) =>
  Object.fromEntries(changes.map(({ key, value }) => [key, value]));

describe('lazy changes that were not stored', () => {
  it('are taken again, without those that were changed meanwhile', () => {
    const tx = new TurnTransaction();
    for (const key of ['a', 'b', 'c']) tx.putLazily('state', key, 1);
    expect(valuesOf(tx.takeLazy())).toEqual({ a: 1, b: 1, c: 1 });
    tx.putLazily('state', 'b', 2);
    tx.put('state', 'c', 2);
    expect(valuesOf(tx.takeDurable())).toEqual({ b: 2, c: 2 });
    tx.returnLazy();
    expect(valuesOf(tx.takeLazy())).toEqual({ a: 1 });
  });

  it('go with the next durable ones', () => {
    const tx = new TurnTransaction();
    tx.putLazily('state', 'a', 1);
    tx.takeLazy();
    tx.returnLazy();
    tx.put('runs', 'r', 1);
    expect(valuesOf(tx.takeDurable())).toEqual({ a: 1, r: 1 });
  });

  it('are forgotten once they are stored', () => {
    const tx = new TurnTransaction();
    tx.putLazily('state', 'a', 1);
    tx.takeLazy();
    tx.forgetLazy();
    tx.returnLazy();
    expect(tx.lazySize).toBe(0);
  });

  it('are taken in pieces, the oldest first; a piece that could not be stored is no newer than what came since', () => {
    const tx = new TurnTransaction();
    for (const key of ['a', 'b', 'c']) tx.putLazily('state', key, 1);
    expect(valuesOf(tx.takeLazy(2))).toEqual({ a: 1, b: 1 });
    tx.putLazily('state', 'a', 2);
    tx.returnLazy();
    expect(valuesOf(tx.takeLazy(2))).toEqual({ b: 1, c: 1 });
    tx.forgetLazy();
    expect(valuesOf(tx.takeLazy(2))).toEqual({ a: 2 });
  });
});
