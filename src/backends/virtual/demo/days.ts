// What the people of the demo house do in a day. Each day is told by itself, from midnight, when everything stands as
// furnishing.ts says, until it does so again.
import type { Json } from '../../../lib/json.ts';
import { DAY_MS, type Day, weekdayOf } from '../../../lib/time/calendar.ts';
import { solarDayOf, sunEvent } from '../../../lib/time/sun-events.ts';
import type { Place } from '../../../lib/time/sun-position.ts';
import { firstInstantOf } from '../../../lib/time/zone.ts';
import type { Chance } from './chance.ts';

/** Something that happens at a device. `at` is epoch ms. */
export interface DemoEvent {
  readonly at: number;
  readonly device: string;
  readonly attribute: string;
  readonly value: Json;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** An absence, in ms since midnight. */
interface Outing {
  readonly leaves: number;
  readonly returns: number;
}

/** How somebody's days look. Hours of the day; `jitter` in minutes. */
const PEOPLE = [
  { name: 'anna', leaves: 7.7, returns: 16.8, jitter: 30, staysHome: 0.15 },
  { name: 'ben', leaves: 8.6, returns: 17.7, jitter: 35, staysHome: 0.3 },
] as const;

/** The day's events, by time. */
export function eventsOfDay(day: Day, place: Place, chance: Chance): DemoEvent[] {
  const events: DemoEvent[] = [];
  const instant = (time: number) => Math.round(firstInstantOf(day * DAY_MS + Math.round(time), place.zone));
  const put = (time: number, device: string, attribute: string, value: Json) =>
    events.push({ at: instant(time), device: `virtual:${device}`, attribute, value });
  const roll = (what: string) => chance.at(what, day);
  /** An hour of the day, give or take some minutes. */
  const around = (what: string, hour: number, minutes: number) =>
    hour * HOUR + chance.between(what, day, -minutes, minutes) * MINUTE;

  const isWeekend = ['sat', 'sun'].includes(weekdayOf(day));
  const outings = PEOPLE.map(person => ({ name: person.name, list: outingsOf(person, isWeekend, roll, around) }));
  const isHome = (time: number) => outings.some(({ list }) => !list.some(o => time > o.leaves && time < o.returns));

  for (const { name, list } of outings) {
    for (const [index, { leaves, returns }] of list.entries()) {
      passDoor(put, leaves - 40 * SECOND, roll(`${name} forgets the lock, leaving ${index}`) < 0.25);
      put(leaves + 3 * MINUTE, `${name}-phone`, 'presence', 'not present');
      put(returns - MINUTE, `${name}-phone`, 'presence', 'present');
      passDoor(put, returns, roll(`${name} forgets the lock, coming ${index}`) < 0.35);
      put(returns + 30 * SECOND, 'hall-motion', 'motion', 'active');
      put(returns + 95 * SECOND, 'hall-motion', 'motion', 'inactive');
    }
  }

  const bedtime = around('bedtime', 22.8, 12);
  for (let slot = 6.5 * HOUR; slot < bedtime; slot += 12 * MINUTE) {
    const what = `through the hall at ${slot}`;
    if (!isHome(slot) || roll(what) > 0.35) continue;
    const at = slot + chance.between(`${what}, when`, day, 0, 9) * MINUTE;
    put(at, 'hall-motion', 'motion', 'active');
    put(at + chance.between(`${what}, how long`, day, 40, 110) * SECOND, 'hall-motion', 'motion', 'inactive');
  }

  const up = around('getting up', isWeekend ? 8.6 : 6.9, 15);
  put(up, 'kitchen-button', 'pushed', 1);
  air(put, 'kitchen-window', up + 12 * MINUTE, around('airing the kitchen', 0.25, 5));
  put(up + 40 * MINUTE, 'living-blind', 'windowShade', 'open');
  put(up + 40 * MINUTE, 'living-blind', 'position', 100);

  const dark = darkness(day, place, instant(0));
  if (isHome(dark)) put(dark, 'living-lamp', 'switch', 'on');
  put(dark + 20 * MINUTE, 'living-blind', 'windowShade', 'closed');
  put(dark + 20 * MINUTE, 'living-blind', 'position', 0);
  if (roll('dishes') < 0.8) wash(put, around('dishes are done', 20, 15), chance, day);
  if (roll('airing the bedroom') < 0.7)
    air(put, 'bedroom-window', 21.6 * HOUR, around('airing the bedroom long', 0.2, 4));

  put(bedtime - 10 * MINUTE, 'bed-left', 'switch', 'on');
  put(bedtime, 'living-lamp', 'switch', 'off');
  put(bedtime + MINUTE, 'front-lock', 'lock', 'locked');
  put(bedtime + 25 * MINUTE, 'bed-left', 'switch', 'off');
  return events.sort((a, b) => a.at - b.at);
}

type Put = (time: number, device: string, attribute: string, value: Json) => void;

function outingsOf(
  person: (typeof PEOPLE)[number],
  isWeekend: boolean,
  roll: (what: string) => number,
  around: (what: string, hour: number, minutes: number) => number,
): Outing[] {
  const { name, leaves, returns, jitter, staysHome } = person;
  const list: Outing[] = [];
  if (!isWeekend && roll(`${name} stays home`) > staysHome) {
    list.push({
      leaves: around(`${name} leaves`, leaves, jitter),
      returns: around(`${name} returns`, returns, jitter),
    });
  }
  if (isWeekend && roll(`${name} goes out`) < 0.7) {
    list.push({ leaves: around(`${name} goes out`, 11, 50), returns: around(`${name} is back`, 14.5, 80) });
  }
  if (roll(`${name}, evening`) < 0.15) {
    list.push({ leaves: around(`${name}, evening`, 19.2, 15), returns: around(`${name}, late`, 21.7, 15) });
  }
  return list;
}

/** Unlocks, opens, closes, and locks again unless that is forgotten. */
function passDoor(put: Put, time: number, isForgotten: boolean): void {
  put(time, 'front-lock', 'lock', 'unlocked');
  put(time + 10 * SECOND, 'front-door', 'contact', 'open');
  put(time + 25 * SECOND, 'front-door', 'contact', 'closed');
  if (!isForgotten) put(time + 50 * SECOND, 'front-lock', 'lock', 'locked');
}

function air(put: Put, window: string, from: number, lasting: number): void {
  put(from, window, 'contact', 'open');
  put(from + lasting, window, 'contact', 'closed');
}

/** When lamps are lit: at sunset, but not before five and not after ten. */
function darkness(day: Day, place: Place, midnight: number): number {
  const sunset = sunEvent('sunset', solarDayOf(day, place), place);
  const time = sunset === null ? 17 * HOUR : sunset - midnight;
  return Math.min(22 * HOUR, Math.max(17 * HOUR, time));
}

const WASH_MINUTES = 75;
/** A dishwasher heats twice; between that it only pumps. */
function wash(put: Put, from: number, chance: Chance, day: Day): void {
  for (let minute = 0; minute < WASH_MINUTES; minute++) {
    const heats = minute < 18 || (minute > 48 && minute < 60);
    const power = heats
      ? chance.between(`heating ${minute}`, day, 1_900, 2_100)
      : chance.between(`pumping ${minute}`, day, 40, 90);
    put(from + minute * MINUTE, 'dishwasher', 'power', Math.round(power));
  }
  put(from + WASH_MINUTES * MINUTE, 'dishwasher', 'power', 1);
}
