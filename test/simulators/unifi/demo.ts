// A console for the demo: a phone that comes and goes, a laptop that roams, and a camera that is kept from calling home.
import { X509Certificate } from 'node:crypto';
import type { SimulatedSystem } from '../../../src/wiring/simulators.ts';
import { CLIENT, certificate, DEVICE, startConsole } from './index.ts';

const EVERY_MS = 1_000;
/** The house of the demo is quick: who was not seen for this long is away. */
const AWAY_AFTER = '30s';

/** Starts it. */
export async function startUnifiDemo(): Promise<SimulatedSystem> {
  const console = await startConsole();
  const { state, url, password } = console;
  let beat = 0;
  const life = setInterval(() => {
    beat++;
    if (beat % 120 === 5) state.connect(CLIENT.phone2);
    if (beat % 120 === 50) state.disconnect(CLIENT.phone2);
    if (beat % 40 === 25) state.roam(CLIENT.laptop, beat % 80 === 25 ? DEVICE.hall : DEVICE.attic, 'reconnect');
    if (beat % 10 === 3) state.flow();
    if (beat % 4 === 1)
      state.flow({ action: 'blocked', risk: 'medium', source: state.flowSource(CLIENT.camera), service: 'DNS' });
  }, EVERY_MS);
  return {
    url,
    backend: {
      type: 'unifi',
      url,
      login: { username: 'causeway', password },
      tls: { fingerprint: new X509Certificate(certificate.cert).fingerprint256 },
      poll: '10s',
      away_after: AWAY_AFTER,
      flows: 'blocked',
    },
    rules: {
      'console-second-phone.yaml': {
        id: 'console-second-phone',
        name: 'The second phone comes and goes',
        triggers: [
          {
            type: 'state',
            device: `unifi:client:${CLIENT.phone2}`,
            attribute: 'presence',
            to: ['present', 'not present'],
          },
        ],
        actions: [{ type: 'log', message: 'the second phone is {{ trigger.value }}' }],
      },
      'console-camera.yaml': {
        id: 'console-camera',
        name: 'Somebody tries to call home five times within a minute',
        triggers: [
          { type: 'flow', where: { action: 'blocked' }, within: '1m', count: 5, per: 'source.mac', throttle: '1m' },
        ],
        actions: [{ type: 'log', message: '{{ trigger.key }} was blocked {{ trigger.count }} times' }],
      },
    },
    async stop() {
      clearInterval(life);
      await console.stop();
    },
  };
}
