import { Subject } from 'rxjs';
import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { createUpdates, type Subscriber, type Updates } from '../../../src/mcp/subscriptions.ts';

let clock: VirtualClock;
let updated$: Subject<string>;
let listChanged$: Subject<void>;
let updates: Updates;
beforeEach(() => {
  clock = new VirtualClock(0);
  updated$ = new Subject();
  listChanged$ = new Subject();
  updates = createUpdates({ updated$, listChanged$, clock, windowMs: 100, maxUris: 1_000 });
});

function subscriber(uris: string[]): { told: string[]; blocked: boolean; self: Subscriber } {
  const state = { told: [] as string[], blocked: false, self: undefined as never as Subscriber };
  state.self = updates.subscribe({
    ready: () => !state.blocked,
    updated: uri => state.told.push(uri),
    listChanged: () => state.told.push('list'),
  });
  for (const uri of uris) state.self.add(uri);
  return state;
}

describe('a subscriber', () => {
  it('is told once per window', () => {
    const one = subscriber(['rule://a', 'rule://b']);
    for (let i = 0; i < 100; i++) updated$.next('rule://a');
    clock.advanceTo(99);
    expect(one.told).toEqual([]);
    updated$.next('rule://b');
    clock.advanceTo(100);
    expect(one.told).toEqual(['rule://a', 'rule://b']);
    clock.advanceTo(1_000);
    expect(one.told).toHaveLength(2);
  });

  it('who does not read is told nothing, and all of it once he does', () => {
    const one = subscriber(['rule://a']);
    one.blocked = true;
    for (let at = 0; at < 10_000; at += 50) {
      updated$.next('rule://a');
      clock.advanceTo(at);
    }
    expect(one.told).toEqual([]);
    one.blocked = false;
    one.self.wake();
    clock.advanceTo(20_000);
    expect(one.told).toEqual(['rule://a']);
  });

  it('of many resources is told in several windows', () => {
    const uris = Array.from({ length: 600 }, (_, i) => `rule://${i}`);
    const one = subscriber(uris);
    for (const uri of uris) updated$.next(uri);
    clock.advanceTo(100);
    expect(one.told.length).toBeLessThan(300);
    clock.advanceTo(1_000);
    expect(one.told.sort()).toEqual(uris.sort());
  });

  it('hears of the list only if he asked to', () => {
    const one = subscriber([]);
    const two = subscriber([]);
    two.self.watchList();
    listChanged$.next();
    listChanged$.next();
    clock.advanceTo(100);
    expect([one.told, two.told]).toEqual([[], ['list']]);
  });

  it('leaves nothing behind', () => {
    const one = subscriber(['rule://a']);
    updated$.next('rule://a');
    one.self.close();
    expect([updates.subscribers, clock.nextDue()]).toEqual([0, undefined]);
    updated$.next('rule://a');
    expect(clock.nextDue()).toBeUndefined();
    const two = subscriber(['rule://a']);
    two.self.remove('rule://a');
    updated$.next('rule://a');
    expect(clock.nextDue()).toBeUndefined();
    updates.stop();
    expect([updated$.observed, listChanged$.observed]).toEqual([false, false]);
  });

  it('who subscribes a resource in two spellings keeps one when he ends the other', () => {
    const one = subscriber(['device://x/a:b', 'device://x/a%3Ab']);
    updated$.next('device://x/a:b');
    clock.advanceTo(100);
    expect(one.told).toEqual(['device://x/a:b', 'device://x/a%3Ab']);
    one.self.remove('device://x/a:b');
    updated$.next('device://x/a:b');
    clock.advanceTo(200);
    expect(one.told.slice(2)).toEqual(['device://x/a%3Ab']);
  });
});

describe('a resource that tells its changes itself', () => {
  const follow = () => {
    const followed = new Map<string, () => void>();
    updates = createUpdates({
      updated$,
      listChanged$,
      clock,
      windowMs: 100,
      maxUris: 1_000,
      watch(uri, tell) {
        if (!uri.startsWith('state://')) return undefined;
        followed.set(uri, tell);
        return () => followed.delete(uri);
      },
    });
    return followed;
  };

  it('is followed once for all who look at it, and no longer than that', () => {
    const followed = follow();
    const one = subscriber(['state://a', 'rule://a']);
    const two = subscriber(['state://a']);
    expect([...followed.keys()]).toEqual(['state://a']);
    one.self.remove('state://a');
    expect(followed.size).toBe(1);
    two.self.close();
    expect(followed.size).toBe(0);
  });

  it('is told to those who look at it, in the spelling that they used', () => {
    const followed = follow();
    const one = subscriber(['state://a.*']);
    const two = subscriber(['state://b']);
    followed.get('state://a.%2A')?.();
    clock.advanceTo(100);
    expect(one.told).toEqual(['state://a.*']);
    expect(two.told).toEqual([]);
  });
});
