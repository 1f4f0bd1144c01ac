// What a command brings about after it has ended is its effect all the same, where it may have been carried out.
import { describe, expect, test } from 'vitest';
import { CausewayError, type ErrorCode } from '../../../src/lib/errors.ts';
import { CAPABILITIES } from '../../../src/model/capability.ts';
import { rootCause } from '../../../src/model/cause.ts';
import type { Backend } from '../../../src/model/command.ts';
import { deviceOf } from '../../../src/model/device.ts';
import type { Event } from '../../../src/model/event.ts';
import { bareEngine } from '../../kit/bare-engine.ts';

async function unlockedAfter(code: ErrorCode): Promise<string> {
  const backend: Backend = {
    id: 'test',
    kind: 'test',
    start: async () => {},
    stop: async () => {},
    test: async () => ({ ok: true, message: '' }),
    async execute() {
      throw new CausewayError(code, 'no');
    },
  };
  const events: Event[] = [];
  const { engine, start } = bareEngine({ backends: [backend], sinks: { onEvent: event => events.push(event) } });
  await start([]);
  const sink = engine.sink('test');
  sink.online();
  const { attributes, commands } = CAPABILITIES.lock;
  sink.devices([deviceOf({ id: 'test:door', name: 'Door', capabilities: ['lock'] }, { attributes, commands })]);
  sink.report({ type: 'value', device: 'test:door', attribute: 'lock', value: 'locked' });
  sink.ready();
  await engine.idle();
  const cause = rootCause(engine.core.ids(), { kind: 'user' }, 'user');
  const device = 'test:door';
  await engine.do(() => engine.core.gate.submit(engine.core.tx, { device, command: 'unlock', args: {}, cause }));
  await engine.idle();
  sink.report({ type: 'value', device, attribute: 'lock', value: 'unlocked' });
  await engine.idle();
  return events.find(({ value }) => value === 'unlocked')?.cause.by ?? 'nothing';
}

describe('a door that opens after the command to open it has failed', () => {
  test('was opened by it where there was no answer', async () => {
    expect(await unlockedAfter('BACKEND_TIMEOUT')).toBe('user');
    expect(await unlockedAfter('BACKEND_UNCONFIRMED')).toBe('user');
  });

  test('was opened by somebody else where it was refused', async () => {
    expect(await unlockedAfter('BACKEND_REJECTED')).toBe('device');
  });
});
