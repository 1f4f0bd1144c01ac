// What a trace tells beyond its outcome: with what a command was sent, and which window was full.
import { describe, expect, it } from 'vitest';
import type { Trace } from '../../../src/model/run.ts';
import { readScenario, runScenario } from '../../../src/world/run.ts';

async function tracesOf(scenario: object): Promise<Trace[]> {
  const { failures, world } = await runScenario(readScenario({ expect: [], until: '1m', ...scenario }));
  expect(failures).toEqual([]);
  return [...(world?.seen.traces.values() ?? [])].map(({ trace }) => trace);
}

describe('a trace', () => {
  it('says with what a command was sent, unless that is long', async () => {
    const command = (device: string, command: string, args: object) => ({ type: 'command', device, command, args });
    const [trace] = await tracesOf({
      devices: { 'virtual:lamp': { capabilities: ['dimmer'] }, 'virtual:hall': { capabilities: ['notification'] } },
      rules: [
        {
          id: 'r',
          name: 'R',
          triggers: [{ type: 'event', device: 'virtual:button', name: 'pushed' }],
          actions: [
            command('virtual:lamp', 'setLevel', { level: { expr: '40 + 2' } }),
            command('virtual:hall', 'deviceNotification', { text: 'x'.repeat(600) }),
          ],
        },
      ],
      timeline: [{ at: '1s', event: { device: 'virtual:button', name: 'pushed', value: 1 } }],
    });
    expect(trace?.steps.map(({ command, args }) => [command, args])).toEqual([
      ['setLevel', { level: 42 }],
      ['deviceNotification', undefined],
    ]);
  });

  it('says which window of a flow trigger was full, and by how many', async () => {
    const flow = { site: 's', action: 'blocked', source: { mac: 'aa' } };
    const [trace] = await tracesOf({
      rules: [
        {
          id: 'r',
          name: 'R',
          triggers: [{ type: 'flow', where: { action: 'blocked' }, within: '1m', count: 2, per: 'source.mac' }],
          actions: [{ type: 'log', message: 'x' }],
        },
      ],
      timeline: [
        { at: '1s', flow },
        { at: '2s', flow },
      ],
    });
    expect(trace?.triggerInfo).toMatchObject({ type: 'flow', key: 'aa', count: 2 });
  });
});
