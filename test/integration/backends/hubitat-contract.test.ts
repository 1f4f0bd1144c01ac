// The Hubitat backend under the contract of all backends, with both ways by which events come.
import { startHubSimulator } from '../../simulators/hubitat/index.ts';
import type { JumpingClock } from './clock.ts';
import { backendContract, type ContractStage } from './contract.ts';
import { backendAt } from './hubitat-kit.ts';

const SECRET = 'simulated-token';

const stageFor =
  (events: 'eventsocket' | 'listener') =>
  async (clock: JumpingClock): Promise<ContractStage> => {
    const hub = await startHubSimulator({ token: SECRET });
    return {
      // Over the listener a poll alone finds an outage; over the eventsocket one would hide that silence is not noticed.
      backend: backendAt(hub, { events, poll: events === 'listener' ? '30s' : '5m' }, { clock }),
      example: { device: 'hubitat:1', attribute: 'switch', value: 'off', other: 'on' },
      command: { command: 'on' },
      system: {
        change: value => hub.state.set(1, 'switch', value as string),
        wasCommanded: () => hub.state.received.some(({ device, command }) => device === 1 && command === 'on'),
        outage: { begin: () => hub.down(), end: () => hub.up() },
        credentials: {
          refuse: () => {
            hub.token = 'another';
          },
          accept: () => {
            hub.token = SECRET;
          },
          secret: SECRET,
        },
        ...(events === 'eventsocket' && { silence: { begin: () => hub.freezeSockets(), noticedAfterMs: 131_000 } }),
        contacts: () => hub.requests.length,
        isConnected: () => hub.sockets.events > 0 || hub.state.postUrl !== undefined,
      },
      end: () => hub.stop(),
    };
  };

backendContract('hubitat over the eventsocket', stageFor('eventsocket'));
backendContract('hubitat over the listener', stageFor('listener'));
