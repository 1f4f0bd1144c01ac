// REST: routes of operations, how queries and bodies become inputs, and the same error JSON as everywhere.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeGateway, startGateway } from '../../kit/fake-gateway.ts';

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => {
  gateway.views.calls.length = 0;
});
afterAll(() => gateway.stop());

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    json: JSON.parse(text) as Record<string, never> & { error: Record<string, unknown> },
  };
}

const lastCall = () => gateway.views.calls.at(-1);

describe('a query', () => {
  it('becomes what the operation’s schema wants', async () => {
    const { status, json } = await call('GET', '/api/rules?limit=7&enabled=true&tags=a,b&tags=c&status=ok');
    expect(status).toBe(200);
    expect(json.asked).toEqual({ limit: 7, enabled: true, tags: ['a', 'b', 'c'], status: 'ok' });
  });

  it('is refused where it does not fit, with the place', async () => {
    expect((await call('GET', '/api/rules?limit=many')).json.error).toMatchObject({
      code: 'INPUT_INVALID',
      path: 'limit',
      status: 400,
    });
    expect((await call('GET', '/api/rules?wrong=1')).status).toBe(400);
    expect((await call('GET', '/api/rules?enabled=maybe')).status).toBe(400);
  });
});

describe('a path', () => {
  it('that there is not says with which method it was asked, and where the routes are', async () => {
    expect((await call('PATCH', '/api/devices', {})).json.error).toMatchObject({
      code: 'NOT_FOUND',
      message: 'there is nothing at PATCH /api/devices',
      hint: expect.stringContaining('openapi'),
    });
  });

  it('fills the inputs it names, percent-decoded', async () => {
    await call('POST', '/api/devices/iobroker%3Ahue.0.k%C3%BCche%2Flicht/commands/on', { args: { level: 5 } });
    expect(lastCall()?.input).toEqual({ device: 'iobroker:hue.0.küche/licht', command: 'on', args: { level: 5 } });
  });

  it('wins over a body that names another', async () => {
    await call('PUT', '/api/rules/attic-fan', { id: 'other', name: 'Fan' });
    expect(lastCall()?.input).toEqual({ id: 'attic-fan', name: 'Fan' });
  });

  it('with a word of its own is not taken for an id', async () => {
    expect((await call('GET', '/api/rules/schema')).json).toEqual({ schema: {} });
  });
});

describe('a body', () => {
  it('must be a JSON object of at most 1 MiB', async () => {
    expect((await call('PUT', '/api/rules/attic-fan', '{"name":')).json.error).toMatchObject({ code: 'INPUT_INVALID' });
    expect((await call('PUT', '/api/rules/attic-fan', '[1]')).json.error).toMatchObject({
      message: 'the body must be a JSON object',
    });
    const large = await call('PUT', '/api/rules/attic-fan', { name: 'x'.repeat(1024 * 1024) });
    expect(large.json.error).toMatchObject({ code: 'INPUT_INVALID', message: 'the body is larger than 1 MiB' });
  });
});

describe('dry_run and confirm', () => {
  it.each(['query', 'body'])('are taken from the %s', async place => {
    const rule = { id: 'dry', name: 'Dry' };
    const dry =
      place === 'query'
        ? await call('POST', '/api/rules?dry_run=true', { rule })
        : await call('POST', '/api/rules', { rule, dry_run: true });
    expect(dry.json).toEqual({ would: 'create', rule });
    expect(gateway.views.rules.has('dry')).toBe(false);

    gateway.views.rules.set('old', { id: 'old' });
    const unconfirmed = await call('DELETE', '/api/rules/old');
    expect([unconfirmed.status, unconfirmed.json.error.code]).toEqual([428, 'CONFIRM_REQUIRED']);
    const confirmed =
      place === 'query'
        ? await call('DELETE', '/api/rules/old?confirm=true')
        : await call('DELETE', '/api/rules/old', { confirm: true });
    expect(confirmed.json).toEqual({ deleted: 'old' });
  });

  it('that are neither true nor false are refused', async () => {
    expect(
      (await call('POST', '/api/rules?dry_run=perhaps', { rule: { id: 'x', name: 'X' } })).json.error,
    ).toMatchObject({ path: 'dry_run' });
  });
});

describe('the caller', () => {
  it('is named with the cause he gives', async () => {
    await call('GET', '/api/rules/attic-fan', undefined, { 'X-Causeway-Cause': '01JDCAUSE' });
    expect(lastCall()?.context.caller).toMatchObject({
      principal: 'local',
      via: 'rest',
      by: 'user',
      causeId: '01JDCAUSE',
    });
  });

  it('is the CLI when it says so, and an odd cause is left out', async () => {
    await call('GET', '/api/rules/attic-fan', undefined, { 'User-Agent': 'causeway-cli/1', 'X-Causeway-Cause': 'a b' });
    expect(lastCall()?.context.caller.via).toBe('cli');
    expect(lastCall()?.context.caller.causeId).toBeUndefined();
  });
});

describe('an error', () => {
  it('has the status of its code and the same JSON everywhere', async () => {
    const { status, json } = await call('GET', '/api/rules/nobody');
    expect(status).toBe(404);
    expect(json.error).toEqual({
      code: 'RULE_NOT_FOUND',
      message: 'there is no rule "nobody"',
      path: 'id',
      hint: 'did you mean "attic-fan"?',
      status: 404,
      retryable: false,
    });
    expect((await call('POST', '/api/break', {})).json.error).toMatchObject({ code: 'INTERNAL', status: 500 });
    expect((await call('GET', '/nothing/here')).json.error).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('an operation by its name', () => {
  it('is called with its input as the body', async () => {
    expect((await call('POST', '/api/call/get_rule', { id: 'attic-fan' })).json).toHaveProperty('rule');
    expect((await call('POST', '/api/call/get_rul', {})).json.error).toMatchObject({
      code: 'NOT_FOUND',
      hint: 'did you mean "get_rule"?',
    });
  });
});

describe('the OpenAPI document', () => {
  it('describes every route, and every reference in it leads somewhere', async () => {
    const { json } = await call('GET', '/api/openapi.json');
    const document = json as unknown as {
      openapi: string;
      paths: Record<
        string,
        Record<string, { operationId: string; parameters: { name: string; in: string; required: boolean }[] }>
      >;
      components: { schemas: Record<string, unknown> };
    };
    expect(document.openapi).toBe('3.1.0');
    const ids = Object.values(document.paths).flatMap(path =>
      Object.values(path).map(operation => operation.operationId),
    );
    expect(ids.sort()).toEqual(gateway.views.ops.map(op => op.name).sort());
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference]) => reference as string,
    );
    expect(references.length).toBeGreaterThan(5);
    for (const reference of references) {
      expect(document.components.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
    }
    for (const [path, operations] of Object.entries(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(operations)) {
        expect(
          parameters
            .filter(parameter => parameter.in === 'path' && parameter.required)
            .map(parameter => parameter.name),
        ).toEqual(named);
      }
    }
  });
});

describe('status and metrics', () => {
  it('are JSON, Prometheus text, and a page for people', async () => {
    expect((await call('GET', '/status')).json).toMatchObject({
      name: 'causeway',
      version: '0.0.0-test',
      ready: true,
      parts: { bus: { ok: true } },
    });
    const metrics = await fetch(`${gateway.url}/metrics`);
    expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual([
      expect.stringContaining('version=0.0.4'),
      expect.stringContaining('causeway_events_total 7'),
    ]);
    expect(await (await fetch(`${gateway.url}/`)).text()).toContain('Causeway 0.0.0-test: ready');
  });
});
