// Logging through pino, one child per area. Secrets are redacted by key.
import { type Logger, pino } from 'pino';

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
export function createLog(options: {
  level: string;
  /** Area → another level. */
  areas?: Readonly<Record<string, string>>;
  destination?: 'stdout' | 'stderr';
}): Log {
  const redact = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);
  const root = pino(
    { level: options.level, redact, base: null },
    pino.destination(options.destination === 'stderr' ? 2 : 1),
  );
  const withAreas = (log: Logger): Log => ({
    debug: (details, message) => log.debug(details, message),
    info: (details, message) => log.info(details, message),
    warn: (details, message) => log.warn(details, message),
    error: (details, message) => log.error(details, message),
    child: ({ area }) => withAreas(log.child({ area }, { level: options.areas?.[area] ?? log.level })),
  });
  return withAreas(root);
}

const nothing = () => {};
/** Says nothing: simulations and tests. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silentLog };
