// Lights of all kinds: on and off, brightness, white, colour.
import type { StateObject } from '../wire.ts';
import { type Hsv, hsvOf, ofHex, rgbOf, toHex } from './color.ts';
import type { Draft, Plan, ValueOf, Write } from './draft.ts';
import { kelvin, measureOf, percent, type Scale, words } from './scales.ts';

type Has = (name: string) => StateObject | undefined;

const write = (state: StateObject, scale: Scale, ours: Parameters<Scale['write']>[0]): Write => ({
  state,
  value: scale.write(ours),
});

/** The brightness that comes with a colour, if one does. */
const dimmed = (dimmer: StateObject | undefined, level: Parameters<Scale['write']>[0] | undefined): Write[] =>
  dimmer && level !== undefined ? [write(dimmer, percent(dimmer), level)] : [];

/** On, off and toggle by a state of its own. */
export function switchBy(draft: Draft, set: StateObject | undefined, actual: StateObject | undefined): void {
  const seen = actual ?? set;
  if (!seen) return;
  draft.attribute('switch', 'switch', seen, words(seen, 'on', 'off'));
  if (!set) return;
  const scale = words(set, 'on', 'off');
  const read = words(seen, 'on', 'off');
  const isOn = (value: ValueOf) => read.read(value(seen.id) ?? null) === 'on';
  draft.command('switch', 'on', () => [write(set, scale, 'on')]);
  draft.command('switch', 'off', () => [write(set, scale, 'off')]);
  draft.command('switch', 'toggle', (_args, value) => [write(set, scale, isOn(value) ? 'off' : 'on')]);
}

/** Brightness; where nothing else switches, it does. */
function dimmerBy(
  draft: Draft,
  set: StateObject | undefined,
  actual: StateObject | undefined,
  switches: boolean,
): void {
  if (!set) return;
  const scale = percent(set);
  const seen = actual ?? set;
  draft.attribute('dimmer', 'level', seen, percent(seen));
  draft.command('dimmer', 'setLevel', ({ level = 0 }) => [write(set, scale, level)], ['duration']);
  if (!switches) return;
  const low = set.min ?? 0;
  const isOn = (value: ValueOf) => Number(value(seen.id) ?? low) > low;
  draft.made('switch', 'switch', [seen], value => {
    const now = value(seen.id);
    return now === undefined || now === null ? now : isOn(value) ? 'on' : 'off';
  });
  draft.command('switch', 'on', () => [write(set, scale, 100)]);
  draft.command('switch', 'off', () => [write(set, scale, 0)]);
  draft.command('switch', 'toggle', (_args, value) => [write(set, scale, isOn(value) ? 0 : 100)]);
}

/** Hue and saturation, whatever they are made of. @param paint the writes of a colour */
function colorBy(
  draft: Draft,
  states: readonly StateObject[],
  read: (value: ValueOf) => Hsv | undefined,
  paint: (color: Hsv, value: ValueOf) => readonly Write[],
  dimmer: StateObject | undefined,
): void {
  // Three bytes are coarser than hue and saturation.
  draft.made('color', 'hue', states, value => read(value)?.hue, 2);
  draft.made('color', 'saturation', states, value => read(value)?.saturation, 2);
  draft.command('color', 'setColor', ({ hue = 0, saturation = 100, level }, value) => {
    // Brightness is the dimmer's where there is one, else the colour's own.
    const own = dimmer ? 100 : Number(level ?? read(value)?.level ?? 100);
    const color = { hue: Number(hue), saturation: Number(saturation), level: own };
    return [...paint(color, value), ...dimmed(dimmer, level)];
  });
}

function colors(draft: Draft, has: Has, dimmer: StateObject | undefined): void {
  const hue = has('HUE');
  const saturation = has('SATURATION');
  if (hue) {
    const turn = percent(hue, 360);
    const depth = saturation && percent(saturation);
    draft.attribute('color', 'hue', hue, turn);
    draft.attribute('color', 'saturation', saturation, depth);
    const paint: Plan = args => [
      write(hue, turn, args.hue ?? 0),
      ...(saturation && depth ? [write(saturation, depth, args.saturation ?? 100)] : []),
      ...dimmed(dimmer, args.level),
    ];
    draft.command('color', 'setColor', paint, dimmer ? [] : ['level']);
  }
  const hex = has('RGB') ?? has('RGBW');
  if (hex) {
    const white = has('RGBW') ? '00' : '';
    const paint = (color: Hsv) => [{ state: hex, value: `${toHex(color)}${white}` }];
    colorBy(draft, [hex], value => ofHex(value(hex.id)), paint, dimmer);
  }
  const [red, green, blue] = [has('RED'), has('GREEN'), has('BLUE')];
  if (red && green && blue) {
    const parts = [red, green, blue] as const;
    const byte = (state: StateObject, value: ValueOf) =>
      (Number(percent(state, 255).read(value(state.id) ?? null) ?? Number.NaN) / 100) * 255;
    const read = (value: ValueOf) => {
      const [r, g, b] = parts.map(state => byte(state, value)) as [number, number, number];
      return Number.isNaN(r + g + b) || parts.some(({ id }) => value(id) === undefined) ? undefined : hsvOf(r, g, b);
    };
    const paint = (color: Hsv) =>
      rgbOf(color).map((n, index) => {
        const state = parts[index] as StateObject;
        return { state, value: state.max === undefined ? n : percent(state, 255).write((n / 255) * 100) };
      });
    colorBy(draft, parts, read, paint, dimmer);
  }
}

/** A light of any kind. */
export function light(draft: Draft, has: Has, type: string): void {
  const isLight = type === 'light';
  const isDimmer = type === 'dimmer';
  const dimmer = isDimmer ? has('SET') : isLight ? undefined : (has('DIMMER') ?? has('BRIGHTNESS'));
  const on = isLight ? has('SET') : isDimmer ? has('ON_SET') : has('ON');
  switchBy(draft, on, has('ON_ACTUAL'));
  dimmerBy(draft, dimmer, isDimmer ? measureOf(dimmer, has('ACTUAL')) : undefined, on === undefined);
  const white = isLight || isDimmer ? undefined : has('TEMPERATURE');
  if (white) {
    const scale = kelvin(white);
    draft.attribute('color_temperature', 'colorTemperature', white, scale);
    const tint: Plan = ({ colorTemperature = 0, level }) => [
      write(white, scale, colorTemperature),
      ...dimmed(dimmer, level),
    ];
    draft.command('color_temperature', 'setColorTemperature', tint, dimmer ? [] : ['level'], {
      colorTemperature: scale,
    });
  }
  colors(draft, has, dimmer);
}
