// The one store of principals: users and tokens of MQTT, MCP, REST and UI.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { CausewayError } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';
import { attempts } from './attempts.ts';
import { passwords } from './password.ts';
import { admin, ENVIRONMENT, LOCAL, type Principal, ROLES, type Role, SCOPES, type Scope, scopesOf } from './roles.ts';

const TOKEN_PREFIX = 'cwy_';
const MIN_PASSWORD = 8;
const MAX_PASSWORD = 256;

const Token = z.strictObject({
  label: z.string(),
  /** SHA-256, hex. A token has 256 random bits: nothing is gained by a slow hash. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(SCOPES)).optional(),
  /** Epoch ms. */
  created: z.number(),
  expires: z.number().optional(),
});
type Token = z.infer<typeof Token>;

/** A row of the store's table `principals`, by name. */
const Row = z.strictObject({
  role: z.enum(ROLES),
  scopes: z.array(z.enum(SCOPES)).optional(),
  /** A PHC string. */
  password: z.string().optional(),
  tokens: z.array(Token).default([]),
  created: z.number(),
});
type Row = z.infer<typeof Row>;

// MQTT's `username`, a file name in a URL, a word on a command line.
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const TAKEN = [LOCAL, ENVIRONMENT];

/** What the store needs. */
export interface PrincipalsOptions {
  /** All rows by name. */
  load(): Promise<ReadonlyMap<string, Json>>;
  /** Writes a row durably, or removes it. */
  save(name: string, row: Json | undefined): Promise<void>;
  readonly clock: Clock;
  /** A token that makes its bearer an admin, stored nowhere. */
  readonly adminToken?: string | undefined;
}

/** A token as a list shows it. */
export interface TokenInfo {
  /** For `revoke`. */
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** Epoch ms. */
  readonly created: number;
  readonly expires?: number;
}

/** A principal as a list shows it. */
export interface PrincipalInfo {
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly Scope[];
  readonly hasPassword: boolean;
  readonly created: number;
  readonly tokens: readonly TokenInfo[];
}

/** The store of principals. */
export interface Principals {
  /** True while there is no principal: then the gateway is for loopback only, where everybody is an admin. */
  isOpen(): boolean;
  /** Who a caller without a credential is: `local` over loopback while the gateway is open, else nobody. */
  anonymous(loopback: boolean): Principal | undefined;
  list(): PrincipalInfo[];
  /** Whether what let him in still would: no token that was revoked or has expired, no password that is another now. */
  isCurrent(principal: Pick<Principal, 'name' | 'credential'>): boolean;
  /** The principal as he is now; undefined when there is none of this name (any more). */
  find(name: string): Principal | undefined;
  /** @throws EXISTS, INPUT_INVALID */
  add(name: string, options: { role: Role; scopes?: readonly Scope[]; password?: string }): Promise<PrincipalInfo>;
  /** Removes a principal with all his tokens. @throws NOT_FOUND, INPUT_INVALID for the last admin among users */
  remove(name: string): Promise<void>;
  /** @throws NOT_FOUND, INPUT_INVALID */
  setPassword(name: string, password: string): Promise<void>;
  /**
   * A new token, which is shown this once. `expiresIn` in ms; `scopes` narrow those of the principal. @throws NOT_FOUND
   */
  issueToken(
    name: string,
    options?: { label?: string; expiresIn?: number; scopes?: readonly Scope[] },
  ): Promise<{ id: string; token: string }>;
  /** Removes a token by its id. @throws NOT_FOUND */
  revoke(name: string, id: string): Promise<void>;
  /** @throws UNAUTHENTICATED, RATE_LIMITED */
  authenticatePassword(name: string, password: string, address: string): Promise<Principal>;
  /** @throws UNAUTHENTICATED, RATE_LIMITED */
  authenticateToken(token: string, address: string): Principal;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (token: Token): string => token.hash.slice(0, 12);
const credentialOf = {
  token: (token: Token): string => `token ${idOf(token)}`,
  password: (phc: string): string => `password ${sha256(phc).slice(0, 12)}`,
};
const equal = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Loads the store. */
export async function openPrincipals({ load, save, clock, adminToken }: PrincipalsOptions): Promise<Principals> {
  const rows = new Map<string, Row>();
  // A row that cannot be read lets nobody in, but it must not make the gateway look as if it had no principals.
  const unreadable = new Set<string>();
  for (const [name, stored] of await load()) {
    const row = Row.safeParse(stored);
    if (row.success) rows.set(name, row.data);
    else unreadable.add(name);
  }

  const hashes = passwords();
  const failures = attempts(clock);
  const adminHash = adminToken === undefined ? undefined : sha256(adminToken);
  // Clients sign in often, scrypt is slow on purpose: good passwords are known again by a MAC under a key of this process.
  const macKey = randomBytes(32);
  const known = new Map<string, Buffer>();
  const mac = (name: string, password: string): Buffer =>
    createHmac('sha256', macKey).update(`${name}\0${password}`).digest();

  let last: Promise<unknown> = Promise.resolve();
  /** One change after the other: each starts from the row that the one before it left. */
  function change<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  async function put(name: string, row: Row | undefined): Promise<void> {
    await save(name, row as Json | undefined);
    if (row) rows.set(name, row);
    else rows.delete(name);
    unreadable.delete(name);
  }

  function rowOf(name: string): Row {
    const row = rows.get(name);
    if (row) return row;
    throw new CausewayError('NOT_FOUND', `there is no user "${name}"`, { hint: didYouMean(name, rows.keys()) });
  }

  const isAlive = (token: Token): boolean => token.expires === undefined || token.expires > clock.now();
  const principalOf = (name: string, row: Row, token?: Token): Principal => {
    const scopes = scopesOf(row.role, row.scopes);
    const narrowed = token?.scopes;
    return {
      name,
      role: row.role,
      scopes: narrowed ? new Set(narrowed.filter(scope => scopes.has(scope))) : scopes,
      ...(token && { credential: credentialOf.token(token) }),
    };
  };

  function infoOf(name: string, row: Row): PrincipalInfo {
    return {
      name,
      role: row.role,
      scopes: [...scopesOf(row.role, row.scopes)],
      hasPassword: row.password !== undefined,
      created: row.created,
      tokens: row.tokens.map(token => ({
        id: idOf(token),
        label: token.label,
        scopes: [...principalOf(name, row, token).scopes],
        created: token.created,
        ...(token.expires !== undefined && { expires: token.expires }),
      })),
    };
  }

  const isOpen = () => rows.size === 0 && unreadable.size === 0 && adminHash === undefined;

  return {
    isOpen,

    anonymous: loopback => (loopback && isOpen() ? admin(LOCAL) : undefined),

    list: () => [...rows].map(([name, row]) => infoOf(name, row)).sort((a, b) => (a.name < b.name ? -1 : 1)),

    isCurrent({ name, credential }) {
      const row = rows.get(name);
      if (!row) return name === ENVIRONMENT ? adminHash !== undefined : name === LOCAL && isOpen();
      if (credential === undefined) return true;
      if (row.password !== undefined && credential === credentialOf.password(row.password)) return true;
      return row.tokens.some(token => credential === credentialOf.token(token) && isAlive(token));
    },

    find(name) {
      if (name === ENVIRONMENT && adminHash !== undefined) return admin(ENVIRONMENT);
      const row = rows.get(name);
      return row && principalOf(name, row);
    },

    async add(name, { role, scopes, password }) {
      checkName(name);
      const phc = password === undefined ? undefined : await hashes.hash(checkPassword(password));
      return change(async () => {
        if (rows.has(name)) throw new CausewayError('EXISTS', `there is a user "${name}" already`);
        const row: Row = {
          role,
          ...(scopes && { scopes: [...scopes] }),
          ...(phc !== undefined && { password: phc }),
          tokens: [],
          created: clock.now(),
        };
        await put(name, row);
        return infoOf(name, row);
      });
    },

    remove: name =>
      change(async () => {
        const row = unreadable.has(name) ? undefined : rowOf(name);
        const others = [...rows].filter(([other]) => other !== name);
        const isLastAdmin = row?.role === 'admin' && !others.some(([, other]) => other.role === 'admin');
        if (isLastAdmin && others.length > 0 && adminHash === undefined) {
          throw new CausewayError('INPUT_INVALID', `"${name}" is the last admin: nobody could let anybody in`, {
            hint: 'make another admin first, or remove the others before',
          });
        }
        await put(name, undefined);
        known.delete(name);
      }),

    async setPassword(name, password) {
      rowOf(name);
      const phc = await hashes.hash(checkPassword(password));
      await change(async () => {
        await put(name, { ...rowOf(name), password: phc });
        known.delete(name);
      });
    },

    issueToken: (name, { label = '', expiresIn, scopes } = {}) =>
      change(async () => {
        const row = rowOf(name);
        const token = TOKEN_PREFIX + randomBytes(32).toString('base64url');
        const created = clock.now();
        const stored: Token = {
          label,
          hash: sha256(token),
          ...(scopes && { scopes: [...scopes] }),
          created,
          ...(expiresIn !== undefined && { expires: created + expiresIn }),
        };
        await put(name, { ...row, tokens: [...row.tokens.filter(isAlive), stored] });
        return { id: idOf(stored), token };
      }),

    revoke: (name, id) =>
      change(async () => {
        const row = rowOf(name);
        const tokens = row.tokens.filter(token => idOf(token) !== id);
        if (tokens.length === row.tokens.length) {
          throw new CausewayError('NOT_FOUND', `"${name}" has no token "${id}"`, {
            hint: didYouMean(id, row.tokens.map(idOf)),
          });
        }
        await put(name, { ...row, tokens });
      }),

    authenticatePassword: (name, password, address) =>
      failures.inTurn(address, async () => {
        const given = mac(name, password);
        const good = known.get(name);
        const phc = rows.get(name)?.password;
        const isKnown = good !== undefined && equal(given, good);
        const fits = isKnown || (password.length <= MAX_PASSWORD && (await hashes.verify(password, phc)));
        const row = rows.get(name);
        // The row may have gone, or its password been changed, while this one was hashed.
        if (!fits || !row || row.password !== phc) {
          failures.failed(address);
          throw refused('The name or the password is wrong.');
        }
        known.set(name, given);
        return { ...principalOf(name, row), ...(phc !== undefined && { credential: credentialOf.password(phc) }) };
      }),

    authenticateToken(token, address) {
      const hash = sha256(token);
      const bytes = Buffer.from(hash);
      for (const [name, row] of rows) {
        const found = row.tokens.find(stored => equal(Buffer.from(stored.hash), bytes));
        if (!found) continue;
        if (isAlive(found)) return principalOf(name, row, found);
        throw refused('The token has expired; issue a new one.');
      }
      // A token of ours cannot be guessed. What a person chose as the admin token can: there the address counts.
      failures.check(address);
      if (adminHash !== undefined && equal(Buffer.from(adminHash), bytes)) return admin(ENVIRONMENT);
      failures.failed(address);
      throw refused('The token is wrong or was revoked.');
    },
  };
}

const refused = (hint: string): CausewayError =>
  new CausewayError('UNAUTHENTICATED', 'who you are could not be verified', { hint });

function checkName(name: string): void {
  if (!NAME.test(name)) {
    throw new CausewayError('INPUT_INVALID', `"${name}" cannot be a user's name`, {
      hint: 'Use 1 to 64 letters, digits and . _ @ -, beginning with a letter or digit.',
    });
  }
  if (TAKEN.includes(name)) throw new CausewayError('INPUT_INVALID', `the name "${name}" is taken by Causeway itself`);
}

function checkPassword(password: string): string {
  if (password.length >= MIN_PASSWORD && password.length <= MAX_PASSWORD) return password;
  throw new CausewayError('INPUT_INVALID', `a password has ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`);
}
