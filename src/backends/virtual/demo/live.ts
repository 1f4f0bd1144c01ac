// Plays the demo house on the virtual backend, beginning with a few seconds in which something happens for every example.
import type { Cancel, Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/errors.ts';
import type { Json } from '../../../lib/json.ts';
import type { VirtualBackend } from '../index.ts';
import type { DemoHouse } from './house.ts';

const HOUR = 3_600_000;

/**
 * The first seconds, in ms after the start. The hall motion makes a rule fire, the door a shadow rule, and one whose
 * condition refuses it; the bed lamp sets off the two example rules that loop. `null`: the other one of two.
 */
const OPENING: readonly (readonly [at: number, device: string, attribute: string, value: Json])[] = [
  [1_500, 'virtual:hall-motion', 'motion', 'inactive'],
  [2_000, 'virtual:hall-motion', 'motion', 'active'],
  [3_500, 'virtual:front-door', 'contact', 'closed'],
  [4_000, 'virtual:front-door', 'contact', 'open'],
  [5_500, 'virtual:bed-left', 'switch', null],
  [8_000, 'virtual:front-door', 'contact', 'closed'],
];
/** When the story alone is told again. */
const OPENING_MS = 10_000;

/**
 * Puts the devices that are missing there, and brings all sensors to where the story stands. What somebody may have set
 * since (lamps, locks) and what was renamed stays. Before the backend's start, so that it is told as its snapshot.
 */
export function furnish(backend: VirtualBackend, demo: DemoHouse, now: number): void {
  const story = demo.valuesAt(now);
  for (const spec of demo.devices) {
    const values = story[spec.id] ?? {};
    if (backend.has(spec.id)) senses(backend, spec.id, values);
    else backend.createDevice({ ...spec, values });
  }
}

/** Sets the attributes that no command can set, where they differ. */
function senses(backend: VirtualBackend, id: string, values: Readonly<Record<string, Json>>): void {
  const device = backend.list().find(one => one.id === id);
  const commanded = new Set(
    Object.values(device?.commands ?? {}).flatMap(c => c.effects.map(effect => effect.attribute)),
  );
  for (const [attribute, value] of Object.entries(values)) {
    if (!commanded.has(attribute) && backend.present(id)[attribute] !== value) set(backend, id, attribute, value);
  }
}

/** A person may have deleted the device, or made another one of its id. */
function set(backend: VirtualBackend, id: string, attribute: string, value: Json): void {
  try {
    backend.setValue(id, attribute, value);
  } catch (error) {
    if (!hasCode(error, 'DEVICE_NOT_FOUND', 'INPUT_INVALID', 'VALUE_INVALID')) throw error;
  }
}

/** Tells the story from now on, until the returned function is called. Furnish first. */
export function runDemo(
  backend: VirtualBackend,
  clock: Clock,
  demo: DemoHouse,
  options: { opening?: boolean } = {},
): () => void {
  const cancels = new Set<Cancel>();
  const later = (ms: number, fn: () => void) => {
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel);
      fn();
    });
    cancels.add(cancel);
  };
  if (options.opening !== false) open(backend, clock, demo, later);

  let told = clock.now();
  const next = () => {
    // A wall clock that was set back tells nothing twice, unless it was set back by far.
    if (clock.now() < told - HOUR) told = clock.now();
    const now = Math.max(told, clock.now());
    // After a sleep of the machine everything is where it then is; what was missed is not made up for.
    if (now - told > HOUR) {
      furnish(backend, demo, now);
      told = now;
    }
    for (const { device, attribute, value } of demo.eventsBetween(told, now)) set(backend, device, attribute, value);
    told = now;
    const [first] = demo.eventsBetween(now, now + HOUR);
    later(Math.max(1, (first?.at ?? now + HOUR) - clock.now() + 1), next);
  };
  next();
  return () => {
    for (const cancel of cancels) cancel();
  };
}

function open(
  backend: VirtualBackend,
  clock: Clock,
  demo: DemoHouse,
  later: (ms: number, fn: () => void) => void,
): void {
  for (const [at, device, attribute, value] of OPENING) {
    later(at, () => {
      const present = backend.has(device) ? backend.present(device)[attribute] : undefined;
      set(backend, device, attribute, value ?? (present === 'on' ? 'off' : 'on'));
    });
  }
  later(OPENING_MS, () => {
    const story = demo.valuesAt(clock.now());
    for (const device of new Set(OPENING.map(([, id]) => id))) {
      if (backend.has(device)) senses(backend, device, story[device] ?? {});
    }
  });
}
