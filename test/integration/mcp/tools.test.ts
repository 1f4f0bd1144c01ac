// Tools over both protocol eras: what is listed, what is called, what an error says.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeGateway, person, startGateway } from '../../kit/fake-gateway.ts';
import { connectV1, connectV2 } from '../../kit/mcp-clients.ts';

const CLIENTS = {
  'the v1 SDK': async (url: string, token?: string) => (await connectV1(url, token)).client,
  'the v2 SDK with sessions': async (url: string, token?: string) => (await connectV2(url, 'legacy', token)).client,
  'the v2 SDK with 2026-07-28': async (url: string, token?: string) => (await connectV2(url, 'modern', token)).client,
};

interface Result {
  isError?: boolean;
  content: { text: string }[];
  structuredContent: { error: Record<string, unknown> } & Record<string, unknown>;
}

describe.each(Object.entries(CLIENTS))('tools by %s', (_name, connect) => {
  let gateway: FakeGateway;
  let client: Awaited<ReturnType<typeof connect>>;
  const call = async (name: string, args?: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;

  beforeAll(async () => {
    gateway = await startGateway();
    client = await connect(gateway.url);
  });
  afterAll(async () => {
    await client.close();
    await gateway.stop();
  });

  it('are the listed operations and the catalogue, in one page', async () => {
    const { tools, nextCursor } = await client.listTools();
    expect(nextCursor).toBeUndefined();
    expect(tools.map(tool => tool.name)).toEqual([
      'list_rules',
      'get_rule_schema',
      'get_rule',
      'create_rule',
      'update_rule',
      'delete_rule',
      'send_command',
      'search_tools',
      'describe_tool',
      'call_read_tool',
      'call_write_tool',
      'call_destructive_tool',
    ]);
  });

  it('answer with the same JSON as text and as structured content', async () => {
    const result = await call('get_rule', { id: 'attic-fan' });
    expect(result.isError).toBeFalsy();
    expect(result.structuredContent).toEqual({ rule: { id: 'attic-fan', name: 'Attic fan' } });
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
  });

  it('say in an error what went wrong, where, and what to do next', async () => {
    const result = await call('get_rule', { id: 'attic-fna' });
    expect(result.isError).toBe(true);
    expect(result.structuredContent.error).toMatchObject({
      code: 'RULE_NOT_FOUND',
      message: 'there is no rule "attic-fna"',
      path: 'id',
      hint: 'did you mean "attic-fan"?',
    });
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
  });

  it('refuse a wrong argument as an error of the tool, so that the model can mend it', async () => {
    const result = await call('list_rules', { limit: 0 });
    expect(result.structuredContent.error).toMatchObject({ code: 'INPUT_INVALID', path: 'limit' });
  });

  it('keep the process alive when an operation has a fault', async () => {
    const result = await call('call_read_tool', { name: 'break_things' });
    expect(result.structuredContent.error).toMatchObject({ code: 'INTERNAL', message: 'a fault inside' });
    expect((await call('get_rule', { id: 'attic-fan' })).isError).toBeFalsy();
  });

  it('refuse an unknown tool as a protocol error that names the nearest', async () => {
    await expect(call('get_rules')).rejects.toThrow(/there is no tool "get_rules".*"get_rule"/);
  });

  it('send an unlisted operation’s name to the catalogue', async () => {
    await expect(call('get_statistics')).rejects.toThrow(/describe_tool/);
  });

  it('change nothing in a dry run', async () => {
    const rule = { id: 'new-one', name: 'New one' };
    const result = await call('create_rule', { rule, dry_run: true });
    expect(result.structuredContent).toEqual({ would: 'create', rule });
    expect(gateway.views.rules.has('new-one')).toBe(false);
  });

  it('ask for confirmation before what cannot be undone', async () => {
    gateway.views.rules.set('old', { id: 'old' });
    expect((await call('delete_rule', { id: 'old' })).structuredContent.error).toMatchObject({
      code: 'CONFIRM_REQUIRED',
    });
    expect((await call('delete_rule', { id: 'old', confirm: true })).structuredContent).toEqual({ deleted: 'old' });
    expect(gateway.views.rules.has('old')).toBe(false);
  });

  it('find, describe and call what is not listed', async () => {
    const found = await call('search_tools', { query: 'statistics' });
    expect(found.structuredContent).toMatchObject({
      total: 1,
      operations: [{ name: 'get_statistics', call_with: 'call_read_tool' }],
    });
    const described = await call('describe_tool', { name: 'get_statistics' });
    expect(described.structuredContent).toMatchObject({
      input_schema: { type: 'object', properties: { of: { type: 'string' } } },
    });
    expect((await call('call_read_tool', { name: 'get_statistics', arguments: {} })).structuredContent).toEqual({
      events: 7,
    });
  });

  it('keep reading, writing and destroying apart in the catalogue', async () => {
    const result = await call('call_read_tool', { name: 'delete_rule', arguments: { id: 'attic-fan', confirm: true } });
    expect(result.structuredContent.error).toMatchObject({
      code: 'INPUT_INVALID',
      hint: 'call it with call_destructive_tool',
    });
    expect(gateway.views.rules.has('attic-fan')).toBe(true);
  });

  it('name the caller to the operation', async () => {
    await call('get_rule', { id: 'attic-fan' });
    expect(gateway.views.calls.at(-1)?.context.caller).toMatchObject({ principal: 'local', via: 'mcp', by: 'user' });
  });
});

describe.each(Object.entries(CLIENTS))('tools of a viewer by %s', (_name, connect) => {
  it('are those of his scopes, and the others are refused', async () => {
    const gateway = await startGateway({ people: [person('vera', 'read')] });
    const client = await connect(gateway.url, 'vera-token');
    const names = (await client.listTools()).tools.map(tool => tool.name);
    expect(names).toEqual([
      'list_rules',
      'get_rule_schema',
      'get_rule',
      'search_tools',
      'describe_tool',
      'call_read_tool',
    ]);
    const refused = (await client.callTool({
      name: 'update_rule',
      arguments: { id: 'attic-fan', name: 'x' },
    })) as unknown as Result;
    expect(refused.structuredContent.error).toMatchObject({ code: 'FORBIDDEN' });
    const search = (await client.callTool({ name: 'search_tools', arguments: {} })) as unknown as Result;
    expect(JSON.stringify(search.structuredContent)).not.toContain('add_user');
    await client.close();
    await gateway.stop();
  });
});

describe('prompts and instructions', () => {
  it.each(Object.entries(CLIENTS))('reach %s', async (_name, connect) => {
    const gateway = await startGateway();
    const client = await connect(gateway.url);
    expect(client.getInstructions()).toContain('check_rule');
    expect((await client.listPrompts()).prompts.map(prompt => prompt.name)).toContain('explain_rule');
    const prompt = await client.getPrompt({ name: 'explain_rule', arguments: { rule: 'attic-fan' } });
    expect(JSON.stringify(prompt.messages)).toContain('attic-fan');
    await expect(client.getPrompt({ name: 'explain_rule', arguments: {} })).rejects.toThrow(
      /wants the argument "rule"/,
    );
    await client.close();
    await gateway.stop();
  });
});
