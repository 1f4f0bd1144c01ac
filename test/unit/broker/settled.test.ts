import { expect, it } from 'vitest';
import { createSettler } from '../../../broker/settled.ts';

const settler = (reported: unknown[] = []) => createSettler(error => reported.push(error));

it('calls back before `then` returns', () => {
  const { ok, failed, done } = settler();
  const heard: unknown[] = [];
  ok(1).then(value => heard.push(value));
  done.then(value => heard.push(value));
  failed(new Error('no')).then(undefined, error => heard.push((error as Error).message));
  void done.finally(() => heard.push('finally'));
  expect(heard).toEqual([1, undefined, 'no', 'finally']);
});

it('chains and can be awaited like a promise', async () => {
  const { ok, failed } = settler();
  expect(
    await ok(1)
      .then(value => ok(value + 1))
      .then(value => value + 1),
  ).toBe(3);
  expect(await ok(null)).toBeNull();
  await expect((async () => await failed(new Error('no')).then(() => 'not this'))()).rejects.toThrow('no');
  expect(await failed(new Error('no')).then(undefined, () => 'mended')).toBe('mended');
});

it('reports what a callback throws, and turns it into a failure', async () => {
  const reported: unknown[] = [];
  const thrown = settler(reported)
    .ok(1)
    .then(() => {
      throw new Error('boom');
    });
  expect(reported).toEqual([new Error('boom')]);
  await expect((async () => await thrown)()).rejects.toThrow('boom');
});
