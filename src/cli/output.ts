// How the CLI shows things: tables, YAML, one line an event.
import { stringify } from 'yaml';

/** Rows as aligned columns; `empty` stands where there are no rows. */
export function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const cells = [
    columns.map(column => column.toUpperCase()),
    ...rows.map(row => columns.map(column => cellOf(row[column]))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map(line => (line[index] as string).length)));
  return cells
    .map(line =>
      line
        .map((cell, index) => cell.padEnd(widths[index] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What stands in the place of an empty list: with why, where the gateway says it. */
export const nothing = (what: string, { hint }: Readonly<Record<string, unknown>>): string =>
  typeof hint === 'string' ? `${what}: ${hint}` : what;

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** YAML, without the quirks of line folding. */
export const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd();

/** What the event of a command that left the gate has for its value: the arguments, beside the command's id. */
const isCommand = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && '$command' in value;

/** One event a line: when, what, to which value, by whom. */
export function eventLine(event: Readonly<Record<string, unknown>>): string {
  if (event.dropped !== undefined) return `… ${event.dropped} events left out: this reader is too slow`;
  const { ts, kind, device, attribute, value, unit, change, cause } = event;
  const by = (cause as { by?: string } | undefined)?.by;
  if (isCommand(value)) {
    const { $command: _id, ...args } = value;
    const told = Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : '';
    return `${ts}  ${device}  ← ${attribute}${told}${by ? `  by ${by}` : ''}`;
  }
  const shown = `${typeof value === 'string' ? value : JSON.stringify(value)}${unit ? ` ${unit}` : ''}`;
  // A message is always told anew.
  const quiet = change === 'changed' || change === undefined || kind === 'input' ? '' : ` (${change})`;
  const of = attribute ? `${device}  ${attribute}` : device;
  return `${ts}  ${of} = ${shown}${quiet}${by && by !== 'device' ? `  by ${by}` : ''}`;
}
