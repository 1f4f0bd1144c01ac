// Logging through pino, one child per area. Secrets are redacted by key.
import { pino } from 'pino';

/** A log of one area; `child` opens another area below it. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
  child(bindings: { area: string }): Log;
}

const SECRET_KEYS = ['password', 'token', 'secret', 'authorization', 'apiKey', 'access_token', 'cookie'];

/** A JSON log on stdout, or stderr where stdout carries a protocol. */
export function createLog(options: { level: string; destination?: 'stdout' | 'stderr' }): Log {
  const redact = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);
  return pino({ level: options.level, redact, base: null }, pino.destination(options.destination === 'stderr' ? 2 : 1));
}

const nothing = () => {};
/** Says nothing: simulations and tests. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
