// Resources: which URI is which kind, in one spelling, and reading them.
import { CausewayError } from '../lib/errors.ts';
import { decodeLevel, encodeLevel } from '../lib/topic.ts';
import type { CallContext, ResourceKind } from '../ops/op.ts';

/** What the kinds of resources make of URIs. */
export interface Resources {
  /** URIs that exist now, in one page. */
  list(
    context: CallContext,
  ): Promise<{ uri: string; name: string; title?: string; description?: string; mimeType: string }[]>;
  /** Kinds with parts to fill in. */
  readonly templates: { uriTemplate: string; name: string; title: string; description: string; mimeType: string }[];
  /** JSON text. @throws CausewayError NOT_FOUND, INPUT_INVALID and those of the kind */
  read(uri: string, context: CallContext): Promise<string>;
  /** True when some kind has such URIs; whether the thing exists is not asked, it may come later. */
  knows(uri: string): boolean;
  /** Follows a resource that tells its changes itself; undefined for all others. */
  watch(uri: string, tell: () => void): (() => void) | undefined;
}

const MIME = 'application/json';
const PLAIN_URI = /^[a-z]+:\/\/[A-Za-z0-9_.:\-/]*$/;

/**
 * One spelling for all equivalent ones: each part decoded and encoded again as ids are everywhere (`lib/topic.ts`), so
 * that `device://x/a%3Ab` and `device://x/a:b` are one resource.
 */
export function canonicalUri(uri: string): string {
  if (PLAIN_URI.test(uri)) return uri;
  const at = uri.indexOf('://');
  if (at < 0) return uri;
  const parts = uri.slice(at + 3).split('/');
  return `${uri.slice(0, at)}://${parts.map(part => encodeLevel(decodeLevel(part) ?? part)).join('/')}`;
}

/** The kinds, compiled once. */
export function resourcesOf(kinds: readonly ResourceKind[]): Resources {
  const compiled = kinds.map(kind => ({ kind, match: matcherOf(kind.template) }));

  const find = (uri: string): { kind: ResourceKind; parts: Record<string, string> } | undefined => {
    for (const { kind, match } of compiled) {
      const parts = match(uri);
      if (parts) return { kind, parts };
    }
    return undefined;
  };

  const isTemplate = (kind: ResourceKind) => kind.template.includes('{');
  const aboutKind = ({ name, title, description }: ResourceKind) => ({ name, title, description, mimeType: MIME });

  return {
    templates: kinds.filter(isTemplate).map(kind => ({ uriTemplate: kind.template, ...aboutKind(kind) })),

    async list(context) {
      const fixed = kinds.filter(kind => !isTemplate(kind)).map(kind => ({ uri: kind.template, ...aboutKind(kind) }));
      const listed = await Promise.all(
        kinds.map(async kind => (isTemplate(kind) ? ((await kind.list?.(context)) ?? []) : [])),
      );
      return [...fixed, ...listed.flat().map(({ uri, name }) => ({ uri, name, mimeType: MIME }))];
    },

    async read(uri, context) {
      const found = find(uri);
      if (!found) {
        const templates = kinds.map(kind => kind.template).join(', ');
        throw new CausewayError('NOT_FOUND', `there is no resource ${uri}`, { hint: `resources are ${templates}` });
      }
      if (!context.caller.scopes.has('read')) {
        throw new CausewayError('FORBIDDEN', `${context.caller.principal} may not read`, {
          hint: 'ask for the scope "read"',
        });
      }
      return JSON.stringify(await found.kind.read(found.parts, context));
    },

    knows: uri => find(uri) !== undefined,

    watch(uri, tell) {
      const found = find(uri);
      return found?.kind.watch?.(found.parts, tell);
    },
  };
}

/** Parts of a URI by the template's names, percent-decoded; undefined when it is of another kind. */
function matcherOf(template: string): (uri: string) => Record<string, string> | undefined {
  const names: string[] = [];
  const source = template.replace(/\{(\w+)\}|[^{]+/g, (text, name: string | undefined) => {
    if (name === undefined) return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    names.push(name);
    return '([^/{}]+)';
  });
  const pattern = new RegExp(`^${source}$`);
  return uri => {
    const match = pattern.exec(uri);
    if (!match) return undefined;
    const parts: Record<string, string> = {};
    for (const [index, name] of names.entries()) {
      const decoded = decodeLevel(match[index + 1] as string);
      if (decoded === undefined) return undefined;
      parts[name] = decoded;
    }
    return parts;
  };
}
