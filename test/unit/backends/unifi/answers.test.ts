import { describe, expect, test } from 'vitest';
import {
  type Answer,
  dataOf,
  dropSecrets,
  type Failure,
  type Surface,
} from '../../../../src/backends/unifi/console/answers.ts';
import type { Json } from '../../../../src/lib/json.ts';

const failureOf = (surface: Surface, status: number, body: unknown, more: Partial<Answer> = {}): Failure => {
  try {
    dataOf(surface, { status, text: typeof body === 'string' ? body : JSON.stringify(body), ...more }, 'stat/sta');
  } catch (thrown) {
    return thrown as Failure;
  }
  throw new Error('it was taken');
};
const said = (failure: Failure) => ({ code: failure.error.code, message: failure.error.message });

describe('an answer', () => {
  test('of the legacy surface gives its rows, of the others its body', () => {
    expect(dataOf('legacy', { status: 200, text: '{"meta":{"rc":"ok"},"data":[1]}' }, '')).toEqual([1]);
    expect(dataOf('internal', { status: 200, text: '[{"a":1}]' }, '')).toEqual([{ a: 1 }]);
    expect(dataOf('official', { status: 200, text: '{"data":[]}' }, '')).toEqual({ data: [] });
    expect(dataOf('legacy', { status: 200, text: '' }, '')).toBeNull();
  });

  test('carries no secret, however deep', () => {
    const rows: Json = [
      {
        x_passphrase: 'p',
        name: 'n',
        wlan: { x_iapp_key: 'k', list: [{ x_authkey: 'a', mac: 'm' }] },
        sso_app_sec: 's',
      },
    ];
    dropSecrets(rows);
    expect(rows).toEqual([{ name: 'n', wlan: { list: [{ mac: 'm' }] } }]);
    const text = JSON.stringify({
      meta: { rc: 'ok' },
      data: [{ x_ssh_hostkey_fingerprint: 'f', syslog_key: 's', mac: 'm' }],
    });
    expect(dataOf('legacy', { status: 200, text }, '')).toEqual([{ mac: 'm' }]);
  });
});

describe('the four shapes of errors', () => {
  test('are one: legacy, with status 200 or not', () => {
    const body = { meta: { rc: 'error', msg: 'api.err.UnknownStation' }, data: [] };
    const expected = { code: 'BACKEND_REJECTED', message: expect.stringContaining('api.err.UnknownStation') };
    expect(said(failureOf('legacy', 200, body))).toEqual(expected);
    expect(said(failureOf('legacy', 400, body))).toEqual(expected);
  });

  test('are one: internal, with status 200 or not', () => {
    const body = { errorCode: 400, message: "Validation failed on field 'schedule'" };
    const expected = { code: 'BACKEND_REJECTED', message: expect.stringContaining("field 'schedule'") };
    expect(said(failureOf('internal', 200, body))).toEqual(expected);
    expect(said(failureOf('internal', 400, body))).toEqual(expected);
  });

  test('are one: official', () => {
    const body = {
      statusCode: 400,
      statusName: 'BAD_REQUEST',
      code: 'api.request.argument-type-mismatch',
      message: 'no UUID',
    };
    expect(said(failureOf('official', 400, body)).message).toContain('api.request.argument-type-mismatch: no UUID');
  });

  test('are one: the console itself, and the proxy before it', () => {
    const proxy = failureOf('legacy', 401, { error: { code: 401, message: 'Unauthorized' } });
    expect(said(proxy)).toEqual({ code: 'BACKEND_AUTH', message: expect.stringContaining('Unauthorized') });
    const os = failureOf('os', 400, { code: 'SOME_LIMIT', message: 'no more', level: 'debug' });
    expect(said(os).message).toContain('SOME_LIMIT: no more');
  });

  test('always say what to do next', () => {
    for (const status of [302, 400, 401, 403, 404, 405, 429, 500, 502, 503]) {
      expect(failureOf('legacy', status, '').error.hint, String(status)).toMatch(/\w{3}/);
    }
  });
});

describe('what an error means', () => {
  test('a session that has ended is told apart from what is not permitted', () => {
    expect(failureOf('legacy', 401, { meta: { rc: 'error', msg: 'api.err.LoginRequired' } }).stale).toBe('session');
    expect(failureOf('legacy', 403, { meta: { rc: 'error', msg: 'api.err.NoPermission' } }).stale).toBeUndefined();
    expect(failureOf('legacy', 403, { error: { code: 403, message: 'Invalid CSRF Token' } }).stale).toBe('csrf');
  });

  test('a wrong site is no wrong login, though it comes with 401', () => {
    const failure = failureOf('legacy', 401, { meta: { rc: 'error', msg: 'api.err.NoSiteContext' } });
    expect(failure).toMatchObject({
      error: { code: 'BACKEND_REJECTED', hint: expect.stringContaining('site') },
    });
    expect(failure.stale).toBeUndefined();
    expect(failureOf('internal', 404, { errorCode: 404, message: 'Site does not exist' }).error.hint).toContain('site');
  });

  test('a page in the place of data says that the console is starting', () => {
    const expected = {
      passing: true,
      uncertain: false,
      error: { code: 'BACKEND_OFFLINE', message: expect.stringContaining('starting') },
    };
    expect(failureOf('legacy', 200, '<!doctype html>')).toMatchObject(expected);
    expect(failureOf('legacy', 503, '<html>nginx</html>')).toMatchObject(expected);
    // The application was asked, and may have acted.
    expect(failureOf('legacy', 502, '<html>nginx</html>')).toMatchObject({ ...expected, uncertain: true });
    expect(failureOf('legacy', 200, '{"meta":{"rc')).toMatchObject({ ...expected, uncertain: true });
  });

  test('too many requests: the pause that is asked for, where one is', () => {
    expect(failureOf('legacy', 429, '{}', { retryAfter: '7' })).toMatchObject({ passing: true, waitMs: 7_000 });
    expect(failureOf('legacy', 429, '{}').waitMs).toBeUndefined();
  });
});
