// Resources and who is told of their changes: each subscriber of either era exactly what he asked for, once per window.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { type FakeGateway, startGateway } from '../../kit/fake-gateway.ts';
import { connectV1, connectV2 } from '../../kit/mcp-clients.ts';

let gateway: FakeGateway;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await gateway.stop();
});

async function v1() {
  const connected = await connectV1(gateway.url);
  closers.push(() => connected.client.close());
  return connected;
}
async function v2(era: 'legacy' | 'modern') {
  const connected = await connectV2(gateway.url, era);
  closers.push(() => connected.client.close());
  return connected;
}

/** The session's GET stream stands: a marker sent to it arrives. */
async function streamOf({ client, updates }: Awaited<ReturnType<typeof v1>>) {
  await client.subscribeResource({ uri: 'rules://all' });
  gateway.views.update('rules://all');
  await eventually(() => updates.includes('rules://all'), 'the stream');
  await client.unsubscribeResource({ uri: 'rules://all' });
  updates.length = 0;
}

describe('resources', () => {
  it.each(['v1', 'legacy', 'modern'] as const)('are listed, and read as JSON, by %s', async era => {
    const { client } = era === 'v1' ? await v1() : await v2(era);
    const { resources } = await client.listResources();
    expect(resources.map(resource => resource.uri)).toEqual(['rules://all', 'rule://attic-fan']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(template => template.uriTemplate)).toEqual(['rule://{id}', 'device://{backend}/{id}']);
    const { contents } = await client.readResource({ uri: 'device://unifi/client%3Aaa%3Abb' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({
      backend: 'unifi',
      id: 'client:aa:bb',
      values: { switch: 'on' },
    });
    await expect(client.readResource({ uri: 'rule://nobody' })).rejects.toThrow(/there is no rule "nobody"/);
    await expect(client.readResource({ uri: 'house://x' })).rejects.toThrow(/no resource house:\/\/x/);
  });
});

describe('subscriptions', () => {
  it('reach exactly the subscribed, on both eras', async () => {
    const first = await v1();
    const second = await v2('legacy');
    const third = await v2('modern');
    await streamOf(first);
    await streamOf(second as never);
    await first.client.subscribeResource({ uri: 'rule://a' });
    await second.client.subscribeResource({ uri: 'rule://b' });
    const listening = await third.client.listen({ resourceSubscriptions: ['rule://a', 'rule://c'] });
    expect(listening.honoredFilter).toEqual({ resourceSubscriptions: ['rule://a', 'rule://c'] });

    gateway.views.update('rule://a', 'rule://b', 'rule://c', 'rule://d');
    await eventually(() => first.updates.length >= 1 && second.updates.length >= 1 && third.updates.length >= 2);
    // A second round shows that nothing else was on its way.
    gateway.views.update('rule://a', 'rule://b', 'rule://c', 'rule://d');
    await eventually(() => first.updates.length >= 2 && second.updates.length >= 2 && third.updates.length >= 4);
    expect(first.updates).toEqual(['rule://a', 'rule://a']);
    expect(second.updates).toEqual(['rule://b', 'rule://b']);
    expect(third.updates.sort()).toEqual(['rule://a', 'rule://a', 'rule://c', 'rule://c']);
  });

  it('end with unsubscribe, and with the close of a listen stream', async () => {
    const session = await v1();
    await streamOf(session);
    await session.client.subscribeResource({ uri: 'rule://a' });
    await session.client.subscribeResource({ uri: 'rule://b' });
    await session.client.unsubscribeResource({ uri: 'rule://a' });
    const modern = await v2('modern');
    const listening = await modern.client.listen({ resourceSubscriptions: ['rule://a'] });
    await listening.close();
    await eventually(() => gateway.mcp.stats().subscribers === 1, 'the listener to go');

    gateway.views.update('rule://a', 'rule://b');
    await eventually(() => session.updates.length > 0);
    expect(session.updates).toEqual(['rule://b']);
    expect(modern.updates).toEqual([]);
  });

  it('tell a flood as one change per window', async () => {
    const session = await v1();
    await streamOf(session);
    await session.client.subscribeResource({ uri: 'rule://a' });
    const modern = await v2('modern');
    await modern.client.listen({ resourceSubscriptions: ['rule://a'] });
    for (let i = 0; i < 10_000; i++) gateway.views.update('rule://a');
    await eventually(() => session.updates.length > 0 && modern.updates.length > 0);
    gateway.views.update('rule://a');
    await eventually(() => session.updates.length > 1 && modern.updates.length > 1);
    expect([session.updates.length, modern.updates.length]).toEqual([2, 2]);
  });

  it.each(['legacy', 'modern'] as const)(
    'take every spelling of one URI, and answer in the spelling asked for, on %s',
    async era => {
      const { client, updates } = await v2(era);
      const uri = 'device://unifi/client%3Aaa%3abb';
      if (era === 'legacy') await client.subscribeResource({ uri });
      else await client.listen({ resourceSubscriptions: [uri] });
      gateway.views.update('device://unifi/client:aa:bc', 'device://unifi/client:aa:bb');
      await eventually(() => updates.length > 0);
      expect(updates).toEqual([uri]);
    },
  );

  it('refuse a URI of no kind, and a template that was not filled in', async () => {
    const { client } = await v1();
    await expect(client.subscribeResource({ uri: 'house://x' })).rejects.toThrow(
      /is no resource; there are rule:\/\/\{id\}/,
    );
    await expect(client.subscribeResource({ uri: 'rule://{id}' })).rejects.toThrow(/fill in the parts/);
    const modern = await v2('modern');
    const listening = await modern.client.listen({ resourceSubscriptions: ['house://x', 'rule://a'] });
    expect(listening.honoredFilter).toEqual({ resourceSubscriptions: ['rule://a'] });
  });

  it('tell of rules that come and go', async () => {
    const session = await v1();
    await streamOf(session);
    const modern = await v2('modern');
    await modern.client.listen({ resourcesListChanged: true });
    await session.client.callTool({ name: 'create_rule', arguments: { rule: { id: 'x', name: 'X' } } });
    await eventually(() => session.listChanges() > 0 && modern.listChanges() > 0);
    expect([session.listChanges(), modern.listChanges()]).toEqual([1, 1]);
  });

  it('are bounded per subscriber', async () => {
    await gateway.stop();
    gateway = await startGateway({ limits: { maxSubscriptions: 2 } });
    const { client } = await v1();
    await client.subscribeResource({ uri: 'rule://a' });
    await client.subscribeResource({ uri: 'rule://b' });
    await client.subscribeResource({ uri: 'rule://b' });
    await expect(client.subscribeResource({ uri: 'rule://c' })).rejects.toThrow(/too many subscriptions/);
    const modern = await v2('modern');
    const listening = await modern.client.listen({ resourceSubscriptions: ['rule://a', 'rule://b', 'rule://c'] });
    expect(listening.honoredFilter.resourceSubscriptions).toHaveLength(2);
  });
});
