// Recorded answers of real hubs through the real client.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { coerce } from '../../../src/model/value.ts';
import { eventually } from '../../kit/eventually.ts';
import { recordingsOf } from '../../kit/recordings.ts';
import { recorder } from '../../unit/backends/kit.ts';
import { backendAt } from './hubitat-kit.ts';

const { isThere, read } = recordingsOf('hubitat');
const recorded = (name: string) => read(`maker-${name}`);

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** The backend at a server that answers with recordings, by path below the app. */
async function stage(answers: Record<string, unknown>) {
  let postUrl = '';
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://hub').pathname).replace('/apps/api/1', '');
    if (path.startsWith('/postURL/')) postUrl = path.slice('/postURL/'.length);
    const body = path.startsWith('/postURL') ? {} : answers[path];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { events: 'listener', temperature_scale: 'F' };
  const backend = backendAt({ url, app: 1, token: 'x' }, settings, { clock: systemClock });
  const sink = recorder();
  ends.push(async () => server.close());
  ends.push(() => backend.stop());
  await backend.start(sink);
  const post = (body: unknown) => fetch(postUrl, { method: 'POST', body: JSON.stringify(body) });
  return { backend, sink, post };
}

const misfits = ({ declared, reports }: ReturnType<typeof recorder>) =>
  reports.filter(report => {
    if (report.type !== 'value') return false;
    const type = declared.get(report.device)?.attributes[report.attribute];
    return !type || !coerce(report.value, type).ok;
  });

describe.skipIf(!isThere)('the recordings of one hub', () => {
  const answers = () => ({
    '/devices/*': Object.values(recorded('device_details') as object),
    '/modes': recorded('modes'),
    '/hsm': recorded('hsm'),
  });

  test('give its devices, rooms, capabilities and values', async () => {
    const { sink, backend } = await stage(answers());
    expect(sink.declared.get('hubitat:6')).toMatchObject({
      name: 'Office Door',
      room: 'Office',
      capabilities: ['battery', 'contact'],
    });
    expect(sink.lines).toEqual(
      expect.arrayContaining([
        'hubitat:6/contact=open',
        'hubitat:32/temperature=17.77',
        'hubitat:176/switch=off',
        'hubitat:location/mode=Day',
        'hubitat:location/hsmStatus=armedAway',
      ]),
    );
    expect(Object.keys(sink.declared.get('hubitat:176')?.commands ?? {})).toEqual([
      'configure',
      'off',
      'on',
      'refresh',
      'toggle',
    ]);
    expect(misfits(sink)).toEqual([]);
    expect(backend.counters).toMatchObject({ unreadable: 0, misfits: 0 });
  });

  test('give its events', async () => {
    const { sink, post, backend } = await stage(answers());
    for (const event of Object.values(recorded('events') as object)) await post(event);
    await eventually(() => backend.counters.events === 5, 'the events');
    expect(sink.lines.slice(sink.lines.indexOf('ready') + 1)).toEqual([
      'hubitat:176/switch=on',
      'hubitat:location/mode=Evening',
      'mode',
      'hubitat:location/hsmStatus=armedAway',
      'hubitat:location/hsmStatus=allDisarmed',
    ]);
  });
});

describe.skipIf(!isThere)('the recordings of another hub', () => {
  test('give its devices from the list without data types', async () => {
    const { sink } = await stage({ '/devices/all': recorded('all-devices-2') });
    expect(sink.declared.get('hubitat:1360')).toMatchObject({
      room: 'Living Room',
      capabilities: ['humidity', 'battery', 'temperature'],
    });
    expect(sink.lines).toContain('hubitat:1360/humidity=18');
    expect(Object.keys(sink.declared.get('hubitat:130')?.attributes ?? {})).not.toContain('dataType');
    expect(misfits(sink)).toEqual([]);
  });

  test('give a device from its detail', async () => {
    const { sink } = await stage({ '/devices/*': [recorded('device-detail-2')] });
    expect(sink.declared.get('hubitat:130')?.attributes).toMatchObject({
      pushed: { momentary: true },
      numberOfButtons: { type: 'number' },
      syncStatus: { type: 'string' },
    });
    expect(sink.lines).toContain('hubitat:130/syncStatus=1 Pending Changes');
  });
});
