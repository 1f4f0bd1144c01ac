// The UniFi backend under the contract of all backends, by login and by key. A socket that is silent is no reason to begin anew
// (polls bridge it): see unifi-trouble.test.ts.
import { DEVICE, startConsole } from '../../simulators/unifi/index.ts';
import type { JumpingClock } from './clock.ts';
import { backendContract, type ContractStage } from './contract.ts';
import { backendAt } from './unifi-kit.ts';

const KEY = 'simulated-key';
const PASSWORD = 'simulated-password';

const stageFor =
  (who: 'login' | 'key') =>
  async (clock: JumpingClock): Promise<ContractStage> => {
    const console = await startConsole({ now: () => clock.now(), apiKey: KEY, password: PASSWORD });
    return {
      backend: backendAt(console, { who, poll: '10s' }, { clock }),
      example: { device: `unifi:device:${DEVICE.hall}`, attribute: 'locating', value: false, other: true },
      command: { command: 'locate' },
      system: {
        change(value) {
          console.state.changeDevice(DEVICE.hall, { locating: value });
          // A key alone opens no socket: it is the next poll that finds it.
          if (who === 'key') void clock.jump(10_000);
        },
        wasCommanded: () => console.state.received.some(({ body }) => body.cmd === 'set-locate'),
        outage: { begin: () => console.down(), end: () => console.up() },
        credentials: {
          refuse: () => {
            console.apiKey = 'another';
            console.password = 'another';
          },
          accept: () => {
            console.apiKey = KEY;
            console.password = PASSWORD;
          },
          secret: who === 'key' ? KEY : PASSWORD,
        },
        contacts: () => console.requests.length,
        isConnected: () => console.sockets > 0,
      },
      end: () => console.stop(),
    };
  };

backendContract('unifi by a login', stageFor('login'));
backendContract('unifi by a key', stageFor('key'));
