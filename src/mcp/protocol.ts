// One SDK server: the protocol's requests answered from the operations, resources and prompts. It serves a session of
// the older revisions, or one request of the newer.
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { asCausewayError, CausewayError, hasCode } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { didYouMean } from '../lib/text.ts';
import type { BoundOp, CallContext, Caller, Views } from '../ops/op.ts';
import { CATALOGUE, catalogueFor } from './catalogue.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { PROMPTS, renderPrompt } from './prompts.ts';
import { type Resources, resourcesOf } from './resources.ts';
import type { Subscriber } from './subscriptions.ts';
import { allowed, callOp, failure, success, type Tool, type ToolResult, toolOf } from './tools.ts';

/** What all servers share; made once. */
export interface Protocol {
  readonly resources: Resources;
  /** The tools that a caller is shown, in one page. */
  toolsFor(caller: Caller): Tool[];
  /** @param subscriber where resources/subscribe goes; absent in the stateless revision */
  serve(subscriber?: Subscriber): Server;
}

/** Clients show models every listed tool in every conversation; five of these are the catalogue. */
export const MAX_TOOLS = 25;

/** Callers travel through the SDK as its `authInfo`. */
export const authOf = (caller: Caller) => ({
  token: '',
  clientId: caller.principal,
  scopes: [...caller.scopes],
  extra: { caller },
});

function callerOf(context: ServerContext): Caller {
  const caller = context.http?.authInfo?.extra?.caller;
  if (!caller) throw new CausewayError('UNAUTHENTICATED', 'the request came without a caller');
  return caller as Caller;
}

/** Compiles tools and resources of the views. */
export function createProtocol(views: Views, log: Log): Protocol {
  const resources = resourcesOf(views.resources);
  const listed = views.ops.filter(op => op.listed).slice(0, MAX_TOOLS - CATALOGUE.length);
  const left = views.ops.filter(op => op.listed && !listed.includes(op));
  if (left.length > 0)
    log.warn({ tools: left.map(op => op.name) }, 'too many listed operations: these are in the catalogue only');
  const tools = new Map(listed.map(op => [op.name, { op, tool: toolOf(op) }]));

  const toolsFor = (caller: Caller): Tool[] => [
    ...[...tools.values()].filter(({ op }) => allowed(op, caller)).map(({ tool }) => tool),
    ...catalogueFor(views.ops, caller).map(({ run: _run, effects: _effects, ...tool }) => tool),
  ];

  const callTool = async (
    name: string,
    args: Record<string, unknown>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<ToolResult> => {
    const known = tools.get(name);
    const catalogue = CATALOGUE.find(tool => tool.name === name);
    if (!known && !catalogue) throw unknownTool(name, views.ops, toolsFor(caller));
    try {
      // An operation that is not the caller's to call answers FORBIDDEN by itself.
      if (known) return success(await callOp(known.op, args, caller, signal));
      const ops = views.ops.filter(op => allowed(op, caller));
      return success(await (catalogue as (typeof CATALOGUE)[number]).run({ ops, args, caller, signal }));
    } catch (thrown) {
      return failure(thrown, log, name);
    }
  };

  const serve = (subscriber?: Subscriber): Server => {
    const server = new Server(
      { name: 'causeway', title: 'Causeway', version: views.version },
      {
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true, listChanged: true } },
        instructions: INSTRUCTIONS,
        debouncedNotificationMethods: ['notifications/resources/list_changed'],
      },
    );
    server.onerror = error => log.debug({ err: error }, 'mcp');

    server.setRequestHandler('tools/list', (_request, context) => ({ tools: toolsFor(callerOf(context)) }));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      callTool(params.name, params.arguments ?? {}, callerOf(context), context.mcpReq.signal).then(result => ({
        ...result,
      })),
    );

    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: resources.templates }));
    server.setRequestHandler('resources/list', async (_request, context) => ({
      resources: await resources.list(readContext(context)),
    }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
      const text = await resources
        .read(uri, readContext(context))
        .catch(thrown => Promise.reject(resourceError(thrown, uri)));
      return { contents: [{ uri, mimeType: 'application/json', text }] };
    });
    if (subscriber) {
      server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
        if (!resources.knows(uri)) throw notSubscribable(uri, resources);
        if (!subscriber.add(uri))
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'too many subscriptions in this session');
        return {};
      });
      server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
        subscriber.remove(uri);
        return {};
      });
    }

    server.setRequestHandler('prompts/list', () => ({
      prompts: PROMPTS.map(({ text: _text, ...prompt }) => ({ ...prompt, arguments: [...prompt.arguments] })),
    }));
    server.setRequestHandler('prompts/get', ({ params }) => {
      try {
        const { description, text } = renderPrompt(params.name, params.arguments);
        return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
      } catch (thrown) {
        throw invalidParams(thrown);
      }
    });
    return server;
  };

  return { resources, toolsFor, serve };
}

const readContext = (context: ServerContext): CallContext => ({
  caller: callerOf(context),
  dryRun: false,
  signal: context.mcpReq.signal,
});

/** A JSON-RPC error that carries ours. */
function invalidParams(thrown: unknown): ProtocolError {
  const error = asCausewayError(thrown);
  const code = error.code === 'INTERNAL' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, [error.message, error.hint].filter(Boolean).join('; '), error.toJSON());
}

/** Clients know a missing resource by `data` being its URI alone. */
const resourceError = (thrown: unknown, uri: string): ProtocolError =>
  hasCode(thrown, 'NOT_FOUND', 'RULE_NOT_FOUND', 'DEVICE_NOT_FOUND', 'RUN_NOT_FOUND')
    ? new ResourceNotFoundError(
        uri,
        [(thrown as CausewayError).message, (thrown as CausewayError).hint].filter(Boolean).join('; '),
      )
    : invalidParams(thrown);

const notSubscribable = (uri: string, resources: Resources): ProtocolError => {
  const templates = resources.templates.map(template => template.uriTemplate).join(', ');
  const hint = uri.includes('{') ? 'fill in the parts in braces' : `there are ${templates} and those of resources/list`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${uri} is no resource; ${hint}`);
};

function unknownTool(name: string, ops: readonly BoundOp[], tools: readonly Tool[]): ProtocolError {
  const op = ops.find(candidate => candidate.name === name);
  const hint = op
    ? 'it is in the catalogue: describe_tool says how to call it'
    : `${didYouMean(
        name,
        tools.map(tool => tool.name),
      )}; search_tools finds the rest`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${name}"; ${hint}`);
}
