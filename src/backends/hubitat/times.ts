// Instants as the hub writes them, in several ways.

/** `2026-06-27T10:30:00.000-0600`, `2026-06-27T10:30:00+0000`, `2026-06-27 10:30:00.000` (UTC in logs) → epoch ms. */
export function hubTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const fits = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/.exec(
    text.trim(),
  );
  if (!fits) return undefined;
  const [, date, time = '00:00:00', zone = 'Z'] = fits;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const at = Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(at) ? undefined : at;
}
