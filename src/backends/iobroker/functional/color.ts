// Colours as ioBroker has them, and as hue and saturation of 0–100.
import type { Json } from '../../../model/value.ts';

/** Hue, saturation and brightness, 0–100 each. */
export interface Hsv {
  readonly hue: number;
  readonly saturation: number;
  readonly level: number;
}

/** Red, green and blue of 0–255 as hue, saturation and brightness. */
export function hsvOf(red: number, green: number, blue: number): Hsv {
  const max = Math.max(red, green, blue);
  const span = max - Math.min(red, green, blue);
  let sixth = 0;
  if (span > 0) {
    if (max === red) sixth = ((green - blue) / span + 6) % 6;
    else if (max === green) sixth = (blue - red) / span + 2;
    else sixth = (red - green) / span + 4;
  }
  return {
    hue: Math.round((sixth / 6) * 100),
    saturation: max === 0 ? 0 : Math.round((span / max) * 100),
    level: Math.round((max / 255) * 100),
  };
}

/** Hue, saturation and brightness as red, green and blue of 0–255. */
export function rgbOf({ hue, saturation, level }: Hsv): [number, number, number] {
  const sixth = ((hue % 100) / 100) * 6;
  const value = level / 100;
  const chroma = value * (saturation / 100);
  const channel = (n: number): number => {
    const k = (n + sixth) % 6;
    return Math.round((value - chroma * Math.max(0, Math.min(k, 4 - k, 1))) * 255);
  };
  return [channel(5), channel(3), channel(1)];
}

const HEX = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i;

/** `#rrggbb`, also with white behind it; undefined for what is none. */
export function ofHex(text: Json | undefined): Hsv | undefined {
  const match = typeof text === 'string' ? HEX.exec(text) : null;
  if (!match) return undefined;
  const [red, green, blue] = match.slice(1).map(part => Number.parseInt(part, 16)) as [number, number, number];
  return hsvOf(red, green, blue);
}

/** As `#rrggbb`. */
export const toHex = (color: Hsv): string =>
  `#${rgbOf(color)
    .map(n => n.toString(16).padStart(2, '0'))
    .join('')}`;
