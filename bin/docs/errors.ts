// The table of docs/errors.md.
import { ERROR_CODES } from '../../src/lib/errors.ts';
import { code, table } from './markdown.ts';
import type { Tables } from './template.ts';

/** Fills docs/errors.md. */
export const errorTables = (): Tables => ({
  codes: table(
    ['code', 'HTTP', 'again?', 'meaning'],
    Object.entries(ERROR_CODES).map(([name, { status, retryable, text }]) => [
      code(name),
      String(status),
      retryable ? 'may help' : '',
      text,
    ]),
  ),
});
