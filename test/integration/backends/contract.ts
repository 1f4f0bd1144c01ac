// What every backend must do, whatever system it bridges. A system gives a stage; what it cannot bring about is left out.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Supervised, supervise } from '../../../src/backends/supervisor.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Backend } from '../../../src/model/command.ts';
import { type Json, misfit } from '../../../src/model/value.ts';
import { eventually } from '../../kit/eventually.ts';
import { commandTo, patience, type Recorder, recorder } from '../../unit/backends/kit.ts';
import { type JumpingClock, jumpingClock, passing } from './clock.ts';

/** What the contract needs of a system. */
export interface ContractStage {
  /** Not started yet, on the clock given to `make`. */
  readonly backend: Supervised;
  /** An attribute, its value now, and another one that it may become. */
  readonly example: { readonly device: string; readonly attribute: string; readonly value: Json; readonly other: Json };
  /** What makes `other` of it. */
  readonly command: { readonly command: string; readonly args?: Record<string, Json> };
  readonly system: {
    /** The device itself changes. */
    change(value: Json): void | Promise<void>;
    /** Whether the command has arrived. */
    wasCommanded(): boolean;
    /** The system is gone, and comes back; its devices go on living. */
    outage?: { begin(): Promise<void>; end(): Promise<void> };
    /** Our credentials are refused, and taken again. */
    credentials?: { refuse(): void | Promise<void>; accept(): void | Promise<void>; secret: string };
    /** Connections stay open, but nothing moves on them; it must be noticed after this time. */
    silence?: { begin(): void; noticedAfterMs: number };
    /** Connections and requests of ours, so far. */
    contacts?(): number;
    /** Whether we are connected still. */
    isConnected?(): boolean;
  };
  /** Called after the backend has stopped. */
  end(): Promise<void>;
}

/** Runs the contract. */
export function backendContract(name: string, make: (clock: JumpingClock) => Promise<ContractStage>): void {
  describe(`the backend ${name}`, () => {
    let clock: JumpingClock;
    let stage: ContractStage;
    let supervised: Backend;
    let sink: Recorder;

    const supervision = (random: number) => supervise(stage.backend, { clock, log: silentLog, random: () => random });
    const line = (value: Json) => `${stage.example.device}/${stage.example.attribute}=${String(value)}`;
    const ready = (count = 1) =>
      eventually(() => sink.lines.filter(one => one === 'ready').length >= count, `ready for the ${count}. time`);
    const told = (value: Json) => eventually(() => sink.lines.includes(line(value)), line(value));

    beforeEach(async () => {
      clock = jumpingClock();
      stage = await make(clock);
      supervised = supervision(0);
      sink = recorder();
    });
    afterEach(async () => {
      await supervised.stop();
      await stage.end();
    });

    test('starts with online, its devices, their values, and ready, in this order', async () => {
      await supervised.start(sink);
      await ready();
      const places = ['online', /^devices: /, line(stage.example.value), 'ready'].map(what =>
        sink.lines.findIndex(one => (typeof what === 'string' ? one === what : what.test(one))),
      );
      expect(places).not.toContain(-1);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    });

    test('tells only values of declared attributes, of the declared types', async () => {
      await supervised.start(sink);
      await ready();
      const odd = sink.reports.flatMap(report => {
        if (report.type !== 'value') return [];
        const declared = sink.declared.get(report.device)?.attributes[report.attribute];
        // As it is, and not what could be made of it.
        return declared && misfit(report.value as Json, declared) === undefined ? [] : [report];
      });
      expect(odd).toEqual([]);
    });

    test('tells what happens at a device', async () => {
      await supervised.start(sink);
      await ready();
      sink.take();
      await stage.system.change(stage.example.other);
      await told(stage.example.other);
      expect(sink.lines).not.toContain('online');
    });

    test('carries out a command, and tells what came of it', async () => {
      await supervised.start(sink);
      await ready();
      const { device, other } = stage.example;
      await supervised.execute(commandTo(device, stage.command.command, stage.command.args), patience());
      expect(stage.system.wasCommanded()).toBe(true);
      await told(other);
    });

    test('refuses commands to devices and of names that it has not, without asking the system', async () => {
      await supervised.start(sink);
      await ready();
      const before = stage.system.contacts?.();
      const { device } = stage.example;
      const stranger = `${stage.backend.id}:no-such-device`;
      await expect(supervised.execute(commandTo(stranger, 'on'), patience())).rejects.toMatchObject({
        code: 'DEVICE_NOT_FOUND',
      });
      await expect(supervised.execute(commandTo(device, 'noSuchCommand'), patience())).rejects.toMatchObject({
        code: 'COMMAND_UNKNOWN',
      });
      expect(stage.system.contacts?.()).toBe(before);
    });

    test('refuses commands while it is stopped', async () => {
      const { device } = stage.example;
      const { command, args } = stage.command;
      await expect(supervised.execute(commandTo(device, command, args), patience())).rejects.toMatchObject({
        code: 'BACKEND_OFFLINE',
      });
      expect(stage.system.wasCommanded()).toBe(false);
    });

    test('says that all is well when it is asked to test', async () => {
      expect(await supervised.test()).toMatchObject({ ok: true });
    });

    test('is silent once stopped, leaves no timer and no connection, and can be started again', async () => {
      await supervised.start(sink);
      await ready();
      await supervised.stop();
      sink.take();
      await stage.system.change(stage.example.other);
      await eventually(() => stage.system.isConnected?.() !== true, 'the end of the connections');
      expect(clock.pending).toBe(0);
      expect(sink.take()).toEqual([]);
      await supervised.start(sink);
      await ready();
      expect(sink.lines).toContain(line(stage.example.other));
    });

    test('tells of an outage, and after it all values anew before it is ready', async ({ skip }) => {
      const { outage, change } = stage.system;
      if (!outage) return skip();
      await supervised.start(sink);
      await ready();
      sink.take();
      await outage.begin();
      await change(stage.example.other);
      // The gap is one that only a restart or a poll notices, or one that the connection itself shows.
      await clock.jump(60_000);
      await passing(clock, () => sink.lines.some(one => one.startsWith('offline: ')), 'offline');
      expect(await supervised.test()).toMatchObject({ ok: false, hint: expect.any(String) });
      await outage.end();
      await ready();
      const [online, value, last] = ['online', line(stage.example.other), 'ready'].map(what =>
        sink.lines.lastIndexOf(what),
      );
      expect(online).toBeGreaterThan(-1);
      expect(value).toBeGreaterThan(online as number);
      expect(last).toBeGreaterThan(value as number);
    });

    test('does not storm a system that refuses its credentials, says what to do, and tells no secret', async ({
      skip,
    }) => {
      const { credentials, contacts } = stage.system;
      if (!credentials || !contacts) return skip();
      await credentials.refuse();
      await supervised.start(sink);
      const offline = await eventually(() => sink.lines.find(one => one.startsWith('offline: ')), 'offline');
      expect(offline).not.toContain(credentials.secret);
      const answer = await supervised.test();
      expect(answer).toMatchObject({ ok: false, hint: expect.any(String) });
      expect(JSON.stringify(answer)).not.toContain(credentials.secret);
      expect(contacts()).toBeLessThanOrEqual(6);
      expect(clock.nextIn()).toBeGreaterThan(60_000);
      await credentials.accept();
      await clock.jump(300_000);
      await ready();
    });

    test('notices a connection on which nothing moves any more', async ({ skip }) => {
      const { silence, change } = stage.system;
      if (!silence) return skip();
      await supervised.start(sink);
      await ready();
      silence.begin();
      await change(stage.example.other);
      await clock.jump(silence.noticedAfterMs);
      await ready(2);
      expect(sink.lines.lastIndexOf('ready')).toBeGreaterThan(sink.lines.lastIndexOf(line(stage.example.other)));
      await told(stage.example.other);
    });
  });
}
