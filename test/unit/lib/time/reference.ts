// A slow, obviously right picture of time for the laws: it walks minute by minute (or second by second) and looks at the
// clock on the wall, which is Intl's.

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clocks of `zone` show, as milliseconds since 1970-01-01T00:00 on that clock. */
export function intlWall(ms: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (format.format(ms).match(/\d+/g) ?? []).map(
    Number,
  );
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

export interface Seen {
  at: number;
  /** The scheduled wall time that is due then. */
  wall: number;
}

/**
 * The instants in (from, to] at which a schedule of single wall times fires: when the clock shows one that it has not
 * shown yet, or (with gap `next`) has just jumped over one. `from` and `to` are whole steps.
 */
export function firstPasses(
  scheduled: (wall: number) => boolean,
  zone: string,
  gap: 'next' | 'skip',
  from: number,
  to: number,
  step: number,
): Seen[] {
  const found: Seen[] = [];
  // A day and more ahead, so that a `from` in a second pass knows what the first has shown.
  let shown = intlWall(from - 26 * 3_600_000, zone);
  for (let at = from - 26 * 3_600_000 + step; at <= to; at += step) {
    const wall = intlWall(at, zone);
    let due: number | undefined;
    for (let reached = shown + step; reached <= wall && due === undefined; reached += step) {
      if (scheduled(reached) && (gap === 'next' || reached === wall)) due = reached;
    }
    if (due !== undefined && at > from) found.push({ at, wall: due });
    shown = Math.max(shown, wall);
  }
  return found;
}

/** The instants in (from, to] at which the clock shows a scheduled wall time, every time that it does. */
export function everyPass(scheduled: (wall: number) => boolean, zone: string, from: number, to: number, step: number) {
  const found: Seen[] = [];
  for (let at = from + step; at <= to; at += step) {
    const wall = intlWall(at, zone);
    if (scheduled(wall)) found.push({ at, wall });
  }
  return found;
}

/** Whether a cron expression of six fields means a wall time: each field expanded to the numbers that it lists. */
export function cronMatcher(text: string): (wall: number) => boolean {
  const [second, minute, hour, date, month, weekday] = text.split(' ') as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const inDay = [expand(hour, 0, 23), expand(minute, 0, 59), expand(second, 0, 59)] as const;
  const dates = expand(date, 1, 31);
  const months = expand(month, 1, 12);
  const weekdays = new Set([...expand(weekday, 0, 7)].map(number => number % 7));
  return wall => {
    const at = new Date(wall);
    if (!inDay[0].has(at.getUTCHours()) || !inDay[1].has(at.getUTCMinutes()) || !inDay[2].has(at.getUTCSeconds())) {
      return false;
    }
    if (!months.has(at.getUTCMonth() + 1)) return false;
    const byDate = dates.has(at.getUTCDate());
    const byWeekday = weekdays.has(at.getUTCDay());
    return date !== '*' && weekday !== '*' ? byDate || byWeekday : byDate && byWeekday;
  };
}

function expand(field: string, low: number, high: number): Set<number> {
  const numbers = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from = low, to = from] = range === '*' ? [low, high] : range.split('-').map(Number);
    for (let number = from; number <= to; number += Number(step)) numbers.add(number);
  }
  return numbers;
}
