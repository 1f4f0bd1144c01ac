import { describe, expect, it } from 'vitest';
import { createDoor, isLoopback } from '../../../broker/door.ts';
import { createBucket, DEFAULT_LIMITS } from '../../../broker/limits.ts';

describe('a bucket', () => {
  it('gives a burst at once, then its rate, and never more than a burst', () => {
    let now = 0;
    const bucket = createBucket(200, 1_000, () => now);
    const takeAll = () => {
      let taken = 0;
      while (bucket.take(1) === 0) taken++;
      return taken;
    };
    expect(takeAll()).toBe(1_000);
    now += 500;
    expect(takeAll()).toBe(100);
    now += 3_600_000;
    expect(takeAll()).toBe(1_000);
  });

  it('asks for a wait after which it gives', () => {
    let now = 0;
    const bucket = createBucket(200, 10, () => now);
    while (bucket.take(1) === 0);
    const wait = bucket.take(1);
    expect(wait).toBeGreaterThan(50);
    now += wait;
    expect(bucket.take(1)).toBe(0);
  });
});

describe('the door', () => {
  const limits = { ...DEFAULT_LIMITS, clients: 4, clientsPerAddress: 2, pendingPerAddress: 3 };

  it('counts sockets that have not logged in by address, and lets others in', () => {
    const door = createDoor(limits);
    const places = [1, 2, 3].map(() => door.enter('10.0.0.1'));
    expect(places.every(Boolean)).toBe(true);
    expect(door.enter('10.0.0.1')).toBeUndefined();
    expect(door.enter('10.0.0.2')).toBeDefined();
    places[0]!.leave();
    places[0]!.leave();
    expect(door.enter('10.0.0.1')).toBeDefined();
    expect(door.enter('10.0.0.1')).toBeUndefined();
  });

  it('admits so many clients of an address, and so many altogether', () => {
    const door = createDoor(limits);
    const admit = (address: string) => {
      const place = door.enter(address);
      return [place?.admit(), place?.leave] as const;
    };
    expect(['a', 'a', 'a', 'b', 'c', 'd'].map(address => admit(address)[0])).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
    expect([door.clients, door.sockets]).toEqual([4, 6]);
  });

  it('admits nobody twice, and nobody who has left', () => {
    const place = createDoor(limits).enter('a')!;
    expect([place.admit(), place.admit()]).toEqual([true, false]);
    place.leave();
    expect(place.admit()).toBe(false);
  });

  it('spares this machine the limits by address, not the ones for all', () => {
    const door = createDoor(limits);
    expect([1, 2, 3, 4].map(() => door.enter('127.0.0.1')?.admit())).toEqual([true, true, true, true]);
    expect(door.enter('::1')?.admit()).toBe(false);
    const strict = createDoor({ ...limits, exemptLoopback: false });
    expect([1, 2, 3].map(() => strict.enter('::1')?.admit())).toEqual([true, true, false]);
  });

  it('knows this machine when it sees it', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
    expect(['10.0.0.1', '::2', 'proxy:127.0.0.1', '::ffff:10.0.0.1', 'unknown'].some(isLoopback)).toBe(false);
  });
});
