// A hub for the demo: a door that opens and closes, a room that warms and cools, a button that is pressed.
import type { SimulatedSystem } from '../../../src/wiring/simulators.ts';
import { startHubSimulator } from './index.ts';

const DOOR = 3;
const REMOTE = 4;
const EVERY_MS = 1_000;

/** Starts it. */
export async function startHubitatDemo(): Promise<SimulatedSystem> {
  const hub = await startHubSimulator();
  const { state, url, app, token } = hub;
  // Its first backup is as old as one of last night.
  state.addBackup(Date.now() - 8 * 3_600_000);
  let beat = 0;
  const life = setInterval(() => {
    beat++;
    if (beat % 3 === 0) state.set(DOOR, 'temperature', Math.round((21 + 2 * Math.sin(beat / 60)) * 10) / 10);
    if (beat % 12 === 4) state.set(DOOR, 'contact', 'open');
    if (beat % 12 === 9) state.set(DOOR, 'contact', 'closed');
    if (beat % 30 === 20) state.press(REMOTE, 1);
    if (beat % 60 === 30) hub.log({ name: 'Office Door', msg: 'weak signal', id: DOOR, type: 'dev', level: 'warn' });
  }, EVERY_MS);
  return {
    url,
    backend: { type: 'hubitat', url, app, token, logs: 'warn', temperature_scale: 'C' },
    rules: {
      'hub-door-light.yaml': {
        id: 'hub-door-light',
        name: 'The hall lamp of the hub goes with its office door',
        triggers: [
          { id: 'opened', type: 'state', device: 'hubitat:3', attribute: 'contact', to: 'open' },
          { id: 'closed', type: 'state', device: 'hubitat:3', attribute: 'contact', to: 'closed' },
        ],
        actions: [
          {
            type: 'if',
            condition: { type: 'trigger', id: 'opened' },
            then: [{ type: 'command', device: 'hubitat:2', command: 'setLevel', args: { level: 80 } }],
            else: [{ type: 'command', device: 'hubitat:2', command: 'off' }],
          },
        ],
      },
      'hub-remote.yaml': {
        id: 'hub-remote',
        name: 'A button of the hub turns its fan on or off',
        triggers: [{ type: 'event', device: 'hubitat:4', name: 'pushed', value: 1 }],
        actions: [{ type: 'command', device: 'hubitat:1', command: 'toggle' }],
      },
    },
    async stop() {
      clearInterval(life);
      await hub.stop();
    },
  };
}
