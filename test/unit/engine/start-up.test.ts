// What a start takes over from the store.
import { describe, expect, it } from 'vitest';
import { deviceOf } from '../../../src/model/device.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import { bareEngine } from '../../kit/bare-engine.ts';

const bulb = () =>
  deviceOf({ id: 'hub:bulb', name: 'Bulb', capabilities: ['switch'] }, { attributes: { level: { type: 'number' } } });

/** An engine whose backend tells a bulb that is on at 40. */
async function tellBulb(store = memoryStore()) {
  const news: string[] = [];
  const { engine, start } = bareEngine({ store, backends: ['hub'], sinks: { onDevice: id => void news.push(id) } });
  await start([]);
  const { values, devices } = engine.core;
  const restored = ['switch', 'level'].map(attribute => values.get('hub:bulb', attribute));
  const sink = engine.sink('hub');
  const declared = bulb();
  sink.device(declared);
  await engine.idle();
  const known = devices.get('hub:bulb');
  sink.report({ type: 'value', device: 'hub:bulb', attribute: 'switch', value: 'on' });
  sink.report({ type: 'value', device: 'hub:bulb', attribute: 'level', value: 40 });
  await engine.idle();
  await engine.stop();
  return { store, news, restored, declared, known };
}

describe('a start over what is stored', () => {
  it('keeps once what the readings of a device have in common, as it does while it runs', async () => {
    const { store } = await tellBulb();
    const { restored } = await tellBulb(store);
    const [one, other] = restored;
    expect(one).toMatchObject({
      value: 'on',
      cause: { depth: 0, path: [], origin: { kind: 'device', ref: 'hub:bulb' } },
    });
    expect(other?.value).toBe(40);
    expect(other?.cause?.root).not.toBe(one?.cause?.root);
    expect(other?.cause?.origin).toBe(one?.cause?.origin);
    expect(other?.cause?.path).toBe(one?.cause?.path);
  });

  it('takes the declaration of the backend for an equal one of the store, which is no news', async () => {
    const first = await tellBulb();
    expect(first.news).toEqual(['hub:bulb']);
    const second = await tellBulb(first.store);
    expect(second.known).toBe(second.declared);
    expect(second.news).toEqual([]);
  });
});
