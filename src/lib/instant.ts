// Instants as people write them to operations.
import { parseDuration } from './duration.ts';
import { CausewayError } from './errors.ts';

/**
 * An instant, epoch ms: ISO 8601, or a duration ago (`2h`); undefined stays so.
 * @param path of the input that it came in
 * @throws INPUT_INVALID
 */
export function instant(text: string | undefined, now: number, path: string): number | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text);
  if (ago !== undefined) return now - ago;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CausewayError('INPUT_INVALID', `"${text}" is no instant`, {
      path,
      hint: 'write 2026-11-30T08:00:00Z, or a duration such as 2h for "two hours ago"',
    });
  return at;
}
