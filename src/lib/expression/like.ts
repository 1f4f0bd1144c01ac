// Wildcards instead of regular expressions: `*` is any text, `?` one character.
import { type Frame, spend } from './frame.ts';

/**
 * Whether the whole text fits the pattern. On a misfit only the last `*` takes one character more (the ones before it
 * need not), so the work is at most text × pattern; it is paid for as it is done.
 */
export function like(text: string, pattern: string, frame: Frame): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let taken = 0;
  let steps = 0;
  while (at < text.length) {
    if ((++steps & 63) === 0) spend(frame, 1);
    if (pattern[place] === '*') {
      star = place++;
      taken = at;
    } else if (place < pattern.length && (pattern[place] === '?' || pattern[place] === text[at])) {
      place++;
      at++;
    } else if (star >= 0) {
      place = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  while (pattern[place] === '*') place++;
  return place === pattern.length;
}
