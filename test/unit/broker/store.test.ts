import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../../../broker/sqlite-store.ts';
import { createSaver, type StoreChanges } from '../../../broker/store.ts';
import { handClock } from './kit.ts';

const none = { put: [], drop: [] };

describe('the write-behind', () => {
  const setUp = (save: (changes: StoreChanges) => void = () => {}) => {
    const clock = handClock();
    const saved: StoreChanges[] = [];
    const errors: unknown[] = [];
    const rows = new Map<string, { topic: string; payload: Buffer; qos: 0 }>();
    let isClosed = false;
    const saver = createSaver({
      clock,
      store: {
        load: () => ({ retained: [], sessions: [], queued: [] }),
        save(changes) {
          save(changes);
          saved.push(changes);
        },
        close() {
          isClosed = true;
        },
      },
      source: { retained: topic => rows.get(topic), session: () => undefined, queued: () => undefined },
      onError: error => errors.push(error),
    });
    const set = (topic: string, text: string) => {
      rows.set(topic, { topic, payload: Buffer.from(text), qos: 0 });
      saver.retained(topic);
    };
    return { clock, saver, saved, errors, rows, set, isClosed: () => isClosed };
  };

  it('saves the present state of what changed, once, 250 ms after the first change', () => {
    const { clock, saver, saved, rows, set } = setUp();
    set('a', 'old');
    set('b', 'x');
    clock.advance(200);
    set('a', 'new');
    rows.delete('b');
    saver.queued(7);
    saver.session('s');
    expect(saved).toEqual([]);
    clock.advance(50);
    expect(saved).toEqual([
      {
        retained: { put: [{ topic: 'a', payload: Buffer.from('new'), qos: 0 }], drop: ['b'] },
        sessions: { put: [], drop: ['s'] },
        queued: { put: [], drop: [7] },
      },
    ]);
    clock.advance(10_000);
    expect([saved.length, clock.pending()]).toEqual([1, 0]);
  });

  it('keeps what could not be saved, and tries again', () => {
    let isFull = true;
    const { clock, saved, errors, set } = setUp(() => {
      if (isFull) throw new Error('full');
    });
    set('a', '1');
    clock.advance(250);
    expect(errors).toHaveLength(1);
    set('b', '2');
    isFull = false;
    clock.advance(5_000);
    expect(saved.flatMap(({ retained }) => retained.put.map(({ topic }) => topic))).toEqual(['a', 'b']);
  });

  it('saves for the last time when it is stopped', () => {
    const { clock, saver, saved, set, isClosed } = setUp();
    set('a', '1');
    saver.stop();
    expect([saved.length, isClosed(), clock.pending()]).toEqual([1, true, 0]);
  });
});

describe('the SQLite store', () => {
  const file = () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'store-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return path.join(folder, 'broker.db');
  };
  const open = (name: string) => {
    const store = openSqliteStore(name);
    onTestFinished(() => store.close());
    return store;
  };
  const session = {
    id: 's',
    owner: 'o',
    seenAt: 5,
    subscriptions: [{ topic: 'a/#', qos: 1 as const, rap: true }],
    incoming: [3, 4],
  };
  const queued = {
    seq: 2,
    session: 's',
    topic: 'a',
    payload: Buffer.from('q'),
    qos: 2 as const,
    messageId: undefined,
    isReleased: false,
  };

  it('gives back what it was given, in the order of the queue', () => {
    const name = file();
    const rows = [{ ...queued, seq: 9, messageId: 7, isReleased: true }, queued];
    const retained = { topic: 'r', payload: Buffer.from([0, 255]), qos: 1 as const };
    const changes = {
      retained: { put: [retained], drop: [] },
      sessions: { put: [session], drop: [] },
      queued: { put: rows, drop: [] },
    };
    open(name).save(changes);
    expect(open(name).load()).toEqual({ retained: [retained], sessions: [session], queued: [queued, rows[0]] });
  });

  it('replaces and removes by key', () => {
    const store = open(file());
    const retained = (topic: string, text: string) => ({ topic, payload: Buffer.from(text), qos: 0 as const });
    store.save({
      retained: { put: [retained('a', '1'), retained('b', '1')], drop: [] },
      sessions: none,
      queued: { put: [queued], drop: [] },
    });
    store.save({
      retained: { put: [retained('a', '2')], drop: ['b'] },
      sessions: { put: [], drop: ['x'] },
      queued: { put: [], drop: [2] },
    });
    expect(store.load()).toEqual({ retained: [retained('a', '2')], sessions: [], queued: [] });
  });

  it('saves all or nothing', () => {
    const store = open(file());
    const bad = { ...queued, topic: undefined as unknown as string };
    const retained = { topic: 'a', payload: Buffer.from('1'), qos: 0 as const };
    expect(() =>
      store.save({ retained: { put: [retained], drop: [] }, sessions: none, queued: { put: [bad], drop: [] } }),
    ).toThrow();
    expect(store.load().retained).toEqual([]);
  });

  it('is in WAL mode and syncs at checkpoints only', () => {
    const name = file();
    open(name);
    const db = new Database(name);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    db.pragma('user_version = 2');
    db.close();
    expect(() => openSqliteStore(name)).toThrow(/version 2.*newer Causeway/);
  });

  it('refuses a file that is no database', () => {
    const name = file();
    writeFileSync(name, 'this is no database, but it is long enough to look like a file');
    expect(() => openSqliteStore(name)).toThrow(/not a database/);
  });
});
