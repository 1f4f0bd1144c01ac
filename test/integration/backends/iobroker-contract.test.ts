// The ioBroker backend under the contract of all backends, at a real ioBroker: with and without a password, and over
// admin, which speaks the same protocol.
import { afterAll, vi } from 'vitest';
import { type IoBroker, type IobUser, startIoBroker } from '../../iobroker/harness.ts';
import { describeIobroker } from '../../iobroker/installed.ts';
import { layWire } from '../../iobroker/wire.ts';
import type { JumpingClock } from './clock.ts';
import { backendContract, type ContractStage } from './contract.ts';
import { iobrokerAt, SLOW_MS } from './iobroker-kit.ts';

vi.setConfig({ testTimeout: SLOW_MS, hookTimeout: SLOW_MS });

const LAMP = 'hue.0.lamp.on';
const USER: IobUser = { name: 'gateway', password: 'a real secret' };

describeIobroker('an ioBroker', () => {
  const started = new Map<string, Promise<IoBroker>>();
  // One for all tests of a contract: it takes seconds to start. Each test has a lamp that is off, and a wire of its own.
  const shared = (adapter: 'ws' | 'admin', auth: IobUser | undefined) => {
    const key = `${adapter} ${auth?.name}`;
    const io = started.get(key) ?? startIoBroker({ auth, adapters: [adapter] });
    started.set(key, io);
    return io;
  };
  afterAll(async () => {
    for (const io of started.values()) await (await io).end();
  });

  const stageFor =
    (adapter: 'ws' | 'admin', auth?: IobUser) =>
    async (clock: JumpingClock): Promise<ContractStage> => {
      const io = await shared(adapter, auth);
      if (auth) await io.setUser(auth);
      await io.addState(LAMP, { type: 'boolean', role: 'switch', name: 'On' }, false);
      io.seen.length = 0;
      const wire = await layWire(Number(new URL(adapter === 'ws' ? io.url : io.adminUrl).port));
      const settings = auth ? { user: auth.name, password: auth.password } : {};
      return {
        backend: iobrokerAt(`ws://127.0.0.1:${wire.port}`, settings, { clock }),
        example: { device: 'iobroker:hue.0.lamp', attribute: 'on', value: false, other: true },
        command: { command: 'set:on', args: { value: true } },
        system: {
          change: value => io.setState(LAMP, value as boolean),
          wasCommanded: () => io.commands(LAMP).some(({ val }) => val === true),
          outage: { begin: () => io.stopAdapter(adapter), end: () => io.startAdapter(adapter) },
          ...(auth && {
            credentials: {
              refuse: () => io.setUser({ ...auth, password: 'another' }),
              accept: () => io.setUser(auth),
              secret: auth.password,
            },
          }),
          silence: { begin: () => wire.freeze(), noticedAfterMs: 41_000 },
          contacts: () => wire.made,
          isConnected: () => wire.open > 0,
        },
        end: () => wire.end(),
      };
    };

  backendContract('ioBroker', stageFor('ws'));
  backendContract('ioBroker with a password', stageFor('ws', USER));
  backendContract('ioBroker over its admin adapter', stageFor('admin'));
});
