// A past of the demo house, as the events that the engine would have seen: what the devices told, and what the backend
// `house` made of it. For the journal, so that backtests and history have something to answer from.
import { idSource, seededRandom } from '../../../lib/ids.ts';
import { VirtualClock } from '../../../lib/virtual-clock.ts';
import { rootCause } from '../../../model/cause.ts';
import type { BackendSink } from '../../../model/command.ts';
import { backendOf, deviceOf } from '../../../model/device.ts';
import type { Event } from '../../../model/event.ts';
import { Devices } from '../../../state/devices.ts';
import { Values } from '../../../state/values.ts';
import { HouseBackend } from '../../house/index.ts';
import type { DemoHouse } from './house.ts';

/** What is to become an event. */
interface Told {
  readonly device: string;
  readonly attribute: string;
  readonly value: unknown;
  readonly quality?: Event['quality'] | undefined;
}

/** All events with from ≤ ts < to, in their order; the first ones tell how everything stands (`resync`). */
export function* pastEvents(demo: DemoHouse, from: number, to: number): Generator<Event> {
  const clock = new VirtualClock(from);
  const ids = idSource(clock, seededRandom(demo.seed));
  const boot = ids();
  const devices = new Devices();
  const values = new Values();
  devices.setNames({ aliases: demo.house.aliases, rooms: demo.house.rooms });
  for (const { id, name, room, capabilities } of demo.devices) {
    devices.put(deviceOf({ id, name, room, capabilities: capabilities ?? [] }));
  }
  let isReady = false;
  let seq = 0;
  let waiting: Event[] = [];
  const tell = ({ device, attribute, value, quality }: Told): void => {
    const declared = devices.get(device)?.attributes[attribute];
    const id = ids();
    const cause = rootCause(id, { kind: 'device', ref: device }, 'device');
    const event = {
      v: 1 as const,
      id,
      kind: 'device' as const,
      ts: clock.now(),
      boot,
      seq: ++seq,
      device,
      attribute,
      cause,
    };
    const unit = declared?.unit === undefined ? {} : { unit: declared.unit };
    const more = { ...event, ...unit, backend: backendOf(device) };
    if (declared?.momentary) {
      waiting.push({ ...more, value: value as Event['value'], previous: null, quality: 'good', change: 'reported' });
      return;
    }
    const at = { now: clock.now(), seq, resync: !isReady, epoch: 1, cause };
    const applied = values.apply(device, attribute, { value, quality }, declared, at);
    if (!('reading' in applied)) return;
    const { reading, previous, what } = applied;
    waiting.push({ ...more, value: reading.value, previous, quality: reading.quality, change: what });
  };
  const house = new HouseBackend({ devices, values, clock, config: demo.house });
  /** Hands over what has happened, and what the house makes of it. */
  function* release(): Generator<Event> {
    while (waiting.length > 0) {
      const events = waiting;
      waiting = [];
      for (const event of events) {
        yield event;
        house.onEvent(event);
      }
    }
  }
  for (const [device, attributes] of Object.entries(demo.valuesAt(from))) {
    for (const [attribute, value] of Object.entries(attributes)) tell({ device, attribute, value });
  }
  devices.setBackend('virtual', { state: 'online', ready: true, epoch: 1, since: from });
  void house.start(sinkOf(devices, tell));
  yield* release();
  isReady = true;
  // What happens at the very first instant is among the values that were told already.
  for (const { at, ...told } of demo.eventsBetween(from + 1, to)) {
    while (clock.runNext(at - from)) yield* release();
    clock.moveTo(at - from);
    tell(told);
    yield* release();
  }
  while (clock.runNext(to - from - 1)) yield* release();
  void house.stop();
}

/** The sink of the house: its devices are known at once, what it reports becomes an event. */
function sinkOf(devices: Devices, tell: (told: Told) => void): BackendSink {
  const nothing = () => {};
  return {
    devices: all => {
      for (const device of all) devices.put(device);
    },
    device: device => devices.put(device),
    removed: id => devices.remove(id),
    report: report => {
      if (report.type === 'value') tell(report);
    },
    online: nothing,
    offline: nothing,
    ready: nothing,
  };
}
