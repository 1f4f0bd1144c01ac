// The one error of Causeway and the one table of its codes. REST, MCP and CLI show the same JSON; docs/errors.md is
// generated from the table.

/** Code → HTTP status, whether trying again may help, and what it means (the docs page). */
export const ERROR_CODES = {
  CONFIG_INVALID: { status: 500, retryable: false, text: 'A configuration file has a wrong key or value.' },
  PORT_IN_USE: { status: 500, retryable: false, text: 'Another process listens on the port.' },
  ALREADY_RUNNING: { status: 500, retryable: false, text: 'Another gateway uses this data folder.' },
  DATA_UNWRITABLE: { status: 500, retryable: true, text: 'The data folder cannot be written, or the disk is full.' },
  DATABASE_DAMAGED: { status: 500, retryable: false, text: 'The database is damaged; what could be read was saved.' },
  DATABASE_NEWER: { status: 500, retryable: false, text: 'The database was written by a newer version of Causeway.' },
  INPUT_INVALID: { status: 400, retryable: false, text: 'An argument is missing, unknown or of the wrong type.' },
  RULE_INVALID: { status: 422, retryable: false, text: 'The rule cannot be saved as it is; `path` names the place.' },
  RULE_NOT_FOUND: { status: 404, retryable: false, text: 'There is no rule with this id.' },
  RULE_EXISTS: { status: 409, retryable: false, text: 'A rule with this id exists already.' },
  REVISION_CONFLICT: { status: 409, retryable: true, text: 'The rule was changed since it was read.' },
  DEVICE_NOT_FOUND: { status: 404, retryable: false, text: 'There is no device with this id or alias.' },
  COMMAND_UNKNOWN: { status: 422, retryable: false, text: 'The device does not declare this command.' },
  ARGUMENT_INVALID: { status: 422, retryable: false, text: 'An argument does not fit the command’s declaration.' },
  VALUE_INVALID: { status: 422, retryable: false, text: 'The value does not fit the declared type.' },
  BACKEND_OFFLINE: { status: 503, retryable: true, text: 'The backend or the device cannot be reached.' },
  BACKEND_TIMEOUT: { status: 504, retryable: true, text: 'The backend did not answer in time.' },
  BACKEND_UNCONFIRMED: {
    status: 504,
    retryable: false,
    text: 'The backend took the command, and the device has not confirmed it: it may have been carried out.',
  },
  BACKEND_AUTH: { status: 502, retryable: false, text: 'The backend refused our credentials.' },
  BACKEND_REJECTED: { status: 502, retryable: false, text: 'The backend answered with an error.' },
  UNSUPPORTED: { status: 501, retryable: false, text: 'Known, but not built yet or not possible here.' },
  MODE_UNKNOWN: { status: 422, retryable: false, text: 'The house has no such mode.' },
  VARIABLE_UNKNOWN: { status: 422, retryable: false, text: 'The house has no such variable.' },
  RUN_NOT_FOUND: { status: 404, retryable: false, text: 'There is no run with this id, or its trace is gone.' },
  NOT_FOUND: { status: 404, retryable: false, text: 'There is nothing of this name.' },
  EXISTS: { status: 409, retryable: false, text: 'Something of this name exists already.' },
  UNAUTHENTICATED: { status: 401, retryable: false, text: 'No credential, or a wrong one.' },
  FORBIDDEN: { status: 403, retryable: false, text: 'The caller’s role or scopes do not allow this.' },
  CONFIRM_REQUIRED: { status: 428, retryable: false, text: 'A destructive operation wants `confirm: true`.' },
  BACKUP_REQUIRED: {
    status: 428,
    retryable: false,
    text: 'The operation cannot be undone and wants a backup of that system that is younger than a day.',
  },
  SWITCHED_OFF: { status: 403, retryable: false, text: 'This operation is switched off by the house.' },
  PANIC: { status: 423, retryable: true, text: 'Panic is on: no rule may command anything.' },
  BUDGET: { status: 429, retryable: true, text: 'The device gets more commands than its budget allows.' },
  TOO_LARGE: { status: 413, retryable: false, text: 'The request is larger than is taken.' },
  RATE_LIMITED: { status: 429, retryable: true, text: 'Too many requests.' },
  EXPRESSION_INVALID: { status: 422, retryable: false, text: 'An expression does not parse or type-check.' },
  INTERNAL: { status: 500, retryable: false, text: 'A fault of Causeway itself; please report it.' },
} as const satisfies Record<string, { status: number; retryable: boolean; text: string }>;

/** A name of `ERROR_CODES`. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** What REST, MCP and CLI show of an error. */
export interface ErrorJson {
  code: ErrorCode;
  message: string;
  path?: string;
  hint?: string;
  status: number;
  retryable: boolean;
  details?: unknown;
}

interface ErrorExtras {
  /** Where, in the path language of rules: `actions/1/choose/0/then/0`. */
  path?: string;
  /** What to do next. */
  hint?: string;
  cause?: unknown;
  /** Machine-readable findings beside the message (candidates, issues). */
  details?: unknown;
}

/** The only error that crosses a folder's border on purpose; branch on `code`, never on the text. */
export class CausewayError extends Error {
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'CausewayError';
    this.code = code;
    this.path = extras.path;
    this.hint = extras.hint;
    this.details = extras.details;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }

  toJSON(): ErrorJson {
    return {
      code: this.code,
      message: this.message,
      ...(this.path !== undefined && { path: this.path }),
      ...(this.hint !== undefined && { hint: this.hint }),
      status: this.status,
      retryable: this.retryable,
      ...(this.details !== undefined && { details: this.details }),
    };
  }
}

/** Any thrown thing as a CausewayError; what is foreign becomes INTERNAL with its cause kept. */
export function asCausewayError(thrown: unknown): CausewayError {
  if (thrown instanceof CausewayError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CausewayError('INTERNAL', message, { cause: thrown });
}

/** What went wrong and what to do next, in one line. */
export const reasonOf = ({ message, hint }: Pick<CausewayError, 'message' | 'hint'>): string =>
  hint === undefined ? message : `${message}: ${hint}`;

/** True for a CausewayError of one of these codes. */
export const hasCode = (thrown: unknown, ...codes: ErrorCode[]): boolean =>
  thrown instanceof CausewayError && codes.includes(thrown.code);
