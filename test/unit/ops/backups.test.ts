// The backups of bridged systems: any backend that keeps some; a clear word for those that do not; the gate of a day.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { Backend, SystemBackup } from '../../../src/model/command.ts';
import { backupOps, requireBackup } from '../../../src/ops/backups.ts';
import type { Gateway } from '../../../src/ops/gateway.ts';
import type { CallContext } from '../../../src/ops/op.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 2, 12);

const plain: Backend = {
  id: 'lights',
  kind: 'virtual',
  start: async () => {},
  stop: async () => {},
  execute: async () => {},
  test: async () => ({ ok: true, message: '' }),
};

function stage(...ages: number[]) {
  const kept: SystemBackup[] = ages.map((age, i) => ({ name: `backup ${i}`, at: NOW - age }));
  const hub: Backend = {
    ...plain,
    id: 'hub',
    kind: 'hubitat',
    backups: async () => kept,
    backup: async () => {
      kept.unshift({ name: 'fresh', at: NOW, bytes: 7 });
      return kept[0] as SystemBackup;
    },
  };
  const backends = new Map([plain, hub].map(one => [one.id, one]));
  const parts = { backends, clock: new VirtualClock(NOW) };
  const { signal } = new AbortController();
  const [list, create] = backupOps;
  const context = { signal, dryRun: false } as CallContext;
  const gateway = parts as unknown as Gateway;
  return {
    kept,
    list: (backend: string) => list.run(gateway, { backend }, context),
    create: (backend: string, dryRun = false) => create.run(gateway, { backend }, { ...context, dryRun }),
    require: (backend = 'hub') => requireBackup(parts, backend, signal),
  };
}

describe('the backups of a system', () => {
  it('are listed with their age', async () => {
    const { list } = stage(90_000, 30 * HOUR);
    expect(await list('hub')).toEqual({
      backend: 'hub',
      backups: [
        { name: 'backup 0', at: '2026-01-02T11:58:30.000Z', age: '1m30s' },
        { name: 'backup 1', at: '2026-01-01T06:00:00.000Z', age: '1d6h' },
      ],
    });
  });

  it('are made, and not in a dry run', async () => {
    const { create, kept } = stage();
    expect(await create('hub', true)).toEqual({ backend: 'hub', dry_run: true });
    expect(kept).toEqual([]);
    expect(await create('hub')).toMatchObject({ backend: 'hub', name: 'fresh', age: '0s', bytes: 7 });
  });

  it('of a system that keeps none are refused with what to do; of one that is not there, with the nearest name', async () => {
    const { list, create } = stage();
    const unsupported = { code: 'UNSUPPORTED', message: expect.stringContaining('lights'), hint: expect.any(String) };
    await expect(list('lights')).rejects.toMatchObject(unsupported);
    await expect(create('lights')).rejects.toMatchObject(unsupported);
    await expect(list('hup')).rejects.toMatchObject({ code: 'NOT_FOUND', hint: expect.stringContaining('hub') });
  });
});

describe('what cannot be undone', () => {
  it.each([
    ['younger than a day', 24 * HOUR - 1],
    ['of the system’s clock, which is ahead of ours', -5 * HOUR],
  ])('passes with a backup %s', async (_, age) => {
    await expect(stage(age).require()).resolves.toBeUndefined();
  });

  it('is refused with an older one, which is told, and passes after a new one', async () => {
    const { require, create } = stage(25 * HOUR);
    await expect(require()).rejects.toMatchObject({
      code: 'BACKUP_REQUIRED',
      status: 428,
      message: expect.stringContaining('1d1h old'),
      hint: expect.stringContaining('create_backup'),
    });
    await create('hub');
    await expect(require()).resolves.toBeUndefined();
  });

  it('is refused with one of a clock that was wrong then, which would be young for ever', async () => {
    await expect(stage(-365 * 24 * HOUR).require()).rejects.toMatchObject({
      code: 'BACKUP_REQUIRED',
      message: expect.stringContaining('in the future'),
    });
    await expect(stage(-365 * 24 * HOUR, HOUR).require()).resolves.toBeUndefined();
  });

  it('is refused without any, and where the system cannot tell', async () => {
    await expect(stage().require()).rejects.toMatchObject({ code: 'BACKUP_REQUIRED' });
    await expect(stage().require('lights')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});
