// Password hashes: scrypt in PHC strings, never more than two computed at a time (each takes 32 MB and about 0.1 s).
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { CausewayError } from '../lib/errors.ts';

// N = 2^15, r = 8: 32 MB a job, which a gateway with 1 GB can bear twice. (OWASP's "Password Storage Cheat Sheet" names
// 2^17 for servers.)
const LOG_N = 15;
const BLOCK = 8;
const PARALLEL = 1;
const KEY_BYTES = 32;
const MAX_MEMORY = 128 * 1024 * 1024;

const JOBS = 2;
const WAITING = 32;

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Hashes and verifies passwords. */
export interface Passwords {
  /** A PHC string, `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`. Throws RATE_LIMITED when too many wait. */
  hash(password: string): Promise<string>;
  /** Takes as long without a hash to compare with, so that nobody learns which names exist. */
  verify(password: string, phc: string | undefined): Promise<boolean>;
}

/** One queue of jobs. */
export function passwords(): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function job<T>(work: () => Promise<T>): Promise<T> {
    if (running >= JOBS) {
      if (waiting.length >= WAITING)
        throw new CausewayError('RATE_LIMITED', 'too many sign in at once; try again in a moment');
      await new Promise<void>(resolve => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      // The place goes to the one who waits, so that a newcomer cannot take it in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  const nobody = encode(randomBytes(16), randomBytes(KEY_BYTES));
  return {
    hash: password =>
      job(async () => {
        const salt = randomBytes(16);
        return encode(salt, await derive(password, salt, { N: 2 ** LOG_N, r: BLOCK, p: PARALLEL }, KEY_BYTES));
      }),
    verify: (password, phc) =>
      job(async () => {
        const { salt, hash, options } = decode(phc) ?? (decode(nobody) as Decoded);
        return timingSafeEqual(await derive(password, salt, options, hash.length), hash) && phc !== undefined;
      }),
  };
}

const derive = (password: string, salt: Buffer, options: ScryptOptions, bytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    // Unicode has several spellings of é; keyboards differ.
    scrypt(password.normalize('NFKC'), salt, bytes, { ...options, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const encode = (salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${LOG_N},r=${BLOCK},p=${PARALLEL}$${base64(salt)}$${base64(hash)}`;

interface Decoded {
  salt: Buffer;
  hash: Buffer;
  options: ScryptOptions;
}

function decode(phc: string | undefined): Decoded | undefined {
  const [, ln, r, p, salt, hash] = PHC.exec(phc ?? '') ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const options = { N: 2 ** Number(ln), r: Number(r), p: Number(p) };
  return { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64'), options };
}
