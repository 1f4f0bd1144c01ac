// Is it alive, is it ready, what is it doing. The first two are for machines without a credential and say no more.
import type { Views } from '../ops/op.ts';
import { type HttpApp, wantScope } from './app.ts';

/** The probes, which need no credential. */
export function mountProbes(app: HttpApp, views: Views): void {
  app.get('/healthz', c => c.json({ name: 'causeway', alive: true }));
  app.get('/readyz', c => {
    const { ready } = views.health();
    return c.json({ name: 'causeway', ready }, ready ? 200 : 503);
  });
}

/** Status for people and programs, and Prometheus text. */
export function mountStatus(app: HttpApp, views: Views): void {
  app.get('/status', wantScope('read'), c => c.json({ name: 'causeway', version: views.version, ...views.health() }));
  app.get('/metrics', wantScope('read'), c =>
    c.body(views.metrics(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
  app.get('/', wantScope('read'), c => c.text(statusPage(views)));
}

function statusPage(views: Views): string {
  const { ready, parts } = views.health();
  const lines = Object.entries(parts).map(
    ([name, { ok, note }]) => `  ${ok ? 'ok  ' : 'DOWN'} ${name}${note ? `: ${note}` : ''}`,
  );
  return [
    `Causeway ${views.version}: ${ready ? 'ready' : 'not ready'}`,
    '',
    ...lines,
    '',
    'MCP     /mcp               causeway connect claude-code shows how to connect a client',
    'REST    /api               described by /api/openapi.json',
    'events  /api/events/stream',
    'status  /status, /metrics, /healthz, /readyz',
    '',
  ].join('\n');
}
