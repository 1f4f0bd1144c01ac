import { describe, expect, test } from 'vitest';
import { type Supervised, stopInReverse, supervise } from '../../../src/backends/supervisor.ts';
import { CausewayError } from '../../../src/lib/errors.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { BackendSink, Command } from '../../../src/model/command.ts';
import { commandTo, patience, recorder, settled } from './kit.ts';

const SECOND = 1_000;

/** A backend that does as a test says. */
class Puppet implements Supervised {
  readonly id: string;
  readonly kind = 'puppet';
  restartWhenOffline?: boolean;
  silentAfterMs?: number;
  starts = 0;
  stops = 0;
  sink: BackendSink | undefined;
  onStart: (sink: BackendSink) => Promise<void> = async sink => sink.online();
  onStop: () => Promise<void> = async () => {};
  onExecute: (command: Command, signal: AbortSignal) => Promise<void> = async () => {};

  constructor(id = 'puppet') {
    this.id = id;
  }

  start(sink: BackendSink): Promise<void> {
    this.starts++;
    this.sink = sink;
    return this.onStart(sink);
  }

  stop(): Promise<void> {
    this.stops++;
    return this.onStop();
  }

  execute(command: Command, signal: AbortSignal): Promise<void> {
    return this.onExecute(command, signal);
  }

  test = async () => ({ ok: true, message: 'fine' });
}

function stage(random = 1) {
  const clock = new VirtualClock(0);
  const puppet = new Puppet();
  const parts = { clock, log: silentLog, random: () => random };
  const supervised = supervise(puppet, parts);
  const sink = recorder();
  /** Lets time pass, timer by timer, with what promises do in between. */
  const pass = async (ms: number) => {
    const end = clock.elapsed() + ms;
    await settled();
    while (clock.runNext(end)) await settled();
    clock.moveTo(end);
    await settled();
  };
  return { clock, puppet, parts, supervised, sink, pass };
}

const failing = (code: 'BACKEND_OFFLINE' | 'BACKEND_AUTH') => async () => {
  throw new CausewayError(code, 'no way in');
};

describe('a start that fails', () => {
  test('is told and tried again, with waits that double up to five minutes', async () => {
    const { clock, puppet, supervised, sink, pass } = stage();
    const startedAt: number[] = [];
    puppet.onStart = async () => {
      startedAt.push(clock.elapsed() / SECOND);
      throw new CausewayError('BACKEND_OFFLINE', 'no way in');
    };
    await supervised.start(sink);
    await pass(1_800 * SECOND);
    expect(startedAt.slice(0, 6)).toEqual([0, 1, 3, 7, 15, 31]);
    expect(startedAt.at(-1)! - startedAt.at(-2)!).toBe(300);
    expect(sink.lines[0]).toBe('offline: no way in');
    expect(puppet.stops).toBe(puppet.starts);
  });

  test('waits a random part of that, so that many do not come at once', async () => {
    const { puppet, supervised, sink, pass } = stage(0.25);
    puppet.onStart = failing('BACKEND_OFFLINE');
    await supervised.start(sink);
    await pass(249);
    expect(puppet.starts).toBe(1);
    await pass(1);
    expect(puppet.starts).toBe(2);
  });

  test('by wrong credentials waits the longest at once', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.onStart = failing('BACKEND_AUTH');
    await supervised.start(sink);
    await pass(299 * SECOND);
    expect(puppet.starts).toBe(1);
    await pass(1 * SECOND);
    expect(puppet.starts).toBe(2);
  });

  test.each([0, 0.1, 0.2, 0.5])(
    'by wrong credentials is not tried again within a minute, whatever chance says (%d)',
    async random => {
      const { puppet, supervised, sink, pass } = stage(random);
      puppet.onStart = failing('BACKEND_AUTH');
      await supervised.start(sink);
      await pass(60 * SECOND);
      expect(puppet.starts).toBe(1);
      await pass(240 * SECOND);
      expect(puppet.starts).toBeGreaterThan(1);
    },
  );

  test('by a throw outside of any promise is no different', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.onStart = () => {
      throw new Error('thrown');
    };
    await supervised.start(sink);
    await pass(0);
    expect(sink.lines).toEqual(['offline: thrown']);
  });

  test('by never ending is given up after a minute', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.onStart = () => new Promise(() => {});
    await supervised.start(sink);
    await pass(61 * SECOND);
    expect(puppet.starts).toBe(2);
    expect(sink.lines).toEqual(['offline: puppet did not start in time']);
  });

  test('begins with a short wait again after a connection that lasted', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.restartWhenOffline = true;
    puppet.onStart = failing('BACKEND_OFFLINE');
    await supervised.start(sink);
    await pass(7 * SECOND);
    puppet.onStart = async s => s.online();
    await pass(8 * SECOND);
    await pass(60 * SECOND);
    const before = puppet.starts;
    puppet.sink?.offline('unplugged');
    await pass(1 * SECOND);
    expect(puppet.starts).toBe(before + 1);
  });
});

describe('a running backend', () => {
  test('that says offline reconnects by itself unless it asks to be restarted', async () => {
    const { puppet, supervised, sink, pass } = stage();
    await supervised.start(sink);
    puppet.sink?.offline('unplugged');
    await pass(10 * SECOND);
    expect(puppet.starts).toBe(1);
    expect(sink.lines).toEqual(['online', 'offline: unplugged']);
  });

  test('whose credentials are refused later on is not started anew within a minute either', async () => {
    const { puppet, supervised, sink, pass } = stage(0);
    puppet.restartWhenOffline = true;
    await supervised.start(sink);
    puppet.sink?.offline('the key was revoked', 'BACKEND_AUTH');
    await pass(60 * SECOND);
    expect(puppet.starts).toBe(1);
    await pass(60 * SECOND);
    expect(puppet.starts).toBe(2);
  });

  test('that asks for it is stopped and started anew, and what the old one still says is not heard', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.restartWhenOffline = true;
    await supervised.start(sink);
    const old = puppet.sink;
    old?.offline('unplugged');
    await pass(1 * SECOND);
    old?.report({ type: 'availability', device: 'puppet:1', state: 'online' });
    expect(puppet).toMatchObject({ starts: 2, stops: 1 });
    expect(sink.lines).toEqual(['online', 'offline: unplugged', 'online']);
  });

  test('that is silent for too long is started anew; every word puts that off', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.silentAfterMs = 60 * SECOND;
    await supervised.start(sink);
    await pass(50 * SECOND);
    puppet.sink?.report({ type: 'value', device: 'puppet:1', attribute: 'x', value: 1 });
    await pass(59 * SECOND);
    expect(puppet.starts).toBe(1);
    await pass(2 * SECOND);
    expect(puppet.starts).toBe(2);
    expect(sink.lines).toContain('offline: nothing was heard of puppet for 60 s');
  });

  test('is not hurt by a sink that throws', async () => {
    const { puppet, supervised, pass } = stage();
    const sink = recorder(() => {
      throw new Error('ours');
    });
    await supervised.start(sink);
    await pass(0);
    expect(() => puppet.sink?.report({ type: 'mode', mode: 'home' })).not.toThrow();
  });
});

describe('stopping', () => {
  test('ends the retries', async () => {
    const { puppet, supervised, sink, pass } = stage();
    puppet.onStart = failing('BACKEND_OFFLINE');
    await supervised.start(sink);
    await pass(500);
    await supervised.stop();
    await pass(600 * SECOND);
    expect(puppet.starts).toBe(1);
  });

  test('is in reverse order, and one that hangs or throws holds nobody up', async () => {
    const { clock, parts, pass } = stage();
    const order: string[] = [];
    const backends = ['a', 'b', 'c'].map(id => {
      const puppet = new Puppet(id);
      puppet.onStop = async () => void order.push(`${id} at ${clock.elapsed()}`);
      return puppet;
    });
    backends[2]!.onStop = () => new Promise(() => {});
    backends[1]!.onStop = () => {
      order.push(`b at ${clock.elapsed()}`);
      throw new Error('cannot');
    };
    const done = stopInReverse(backends, parts);
    await pass(5 * SECOND);
    await done;
    expect(order).toEqual(['b at 5000', 'a at 5000']);
  });
});

describe('commands', () => {
  const timeout = async () => {
    throw new CausewayError('BACKEND_TIMEOUT', 'no answer');
  };
  const codeOf = (promise: Promise<void>) =>
    promise.then(
      () => 'ok',
      (error: CausewayError) => error.code,
    );

  test('to a device that did not answer three times fail at once for half a minute; then one may try', async () => {
    const { puppet, supervised, sink, pass } = stage();
    await supervised.start(sink);
    puppet.onExecute = timeout;
    const send = () => codeOf(supervised.execute(commandTo('puppet:dead', 'on'), patience()));
    expect([await send(), await send(), await send()]).toEqual(Array(3).fill('BACKEND_TIMEOUT'));
    expect(await send()).toBe('BACKEND_OFFLINE');
    puppet.onExecute = async () => {};
    expect(await codeOf(supervised.execute(commandTo('puppet:alive', 'on'), patience()))).toBe('ok');
    await pass(30 * SECOND);
    expect(await send()).toBe('ok');
    expect(await send()).toBe('ok');
  });

  test('while one tries, the others still fail at once', async () => {
    const { puppet, supervised, sink, pass } = stage();
    await supervised.start(sink);
    puppet.onExecute = timeout;
    const send = () => codeOf(supervised.execute(commandTo('puppet:dead', 'on'), patience()));
    for (let i = 0; i < 3; i++) await send();
    await pass(30 * SECOND);
    puppet.onExecute = () => new Promise(() => {});
    void send();
    expect(await send()).toBe('BACKEND_OFFLINE');
  });

  test('an answer of any kind in between begins the count anew', async () => {
    const { puppet, supervised, sink } = stage();
    await supervised.start(sink);
    const send = () => codeOf(supervised.execute(commandTo('puppet:slow', 'on'), patience()));
    puppet.onExecute = timeout;
    await send();
    await send();
    puppet.onExecute = async () => {
      throw new CausewayError('BACKEND_REJECTED', 'no');
    };
    expect(await send()).toBe('BACKEND_REJECTED');
    puppet.onExecute = timeout;
    expect([await send(), await send()]).toEqual(['BACKEND_TIMEOUT', 'BACKEND_TIMEOUT']);
  });

  test('one that its caller gave up counts as a timeout', async () => {
    const { puppet, supervised, sink } = stage();
    await supervised.start(sink);
    puppet.onExecute = () => new Promise(() => {});
    for (let i = 0; i < 3; i++) {
      const abort = new AbortController();
      void supervised.execute(commandTo('puppet:dead', 'on'), abort.signal);
      abort.abort();
    }
    expect(await codeOf(supervised.execute(commandTo('puppet:dead', 'on'), patience()))).toBe('BACKEND_OFFLINE');
  });

  test('a foreign error becomes one of ours', async () => {
    const { puppet, supervised, sink } = stage();
    await supervised.start(sink);
    puppet.onExecute = async () => {
      throw new TypeError('broken');
    };
    expect(await codeOf(supervised.execute(commandTo('puppet:a', 'on'), patience()))).toBe('INTERNAL');
  });
});

describe('the backups of a backend', () => {
  test('are there only where the backend has them', () => {
    const { supervised } = stage();
    expect(supervised.backups).toBeUndefined();
    expect(supervised.backup).toBeUndefined();
  });

  test('are passed through, and given up when the backend takes too long', async () => {
    const { clock, puppet, parts, pass } = stage();
    let given: AbortSignal | undefined;
    const able = Object.assign(puppet, {
      backups: async () => [{ name: 'one', at: 1 }],
      backup: (signal: AbortSignal) => {
        given = signal;
        return new Promise<never>(() => {});
      },
    });
    const supervised = supervise(able, parts);
    expect(await supervised.backups?.(patience())).toEqual([{ name: 'one', at: 1 }]);
    const making = supervised.backup?.(patience()) as Promise<unknown>;
    const outcome = expect(making).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    await pass(600 * SECOND);
    await outcome;
    expect(given?.aborted).toBe(true);
    expect(clock.runNext(Number.POSITIVE_INFINITY)).toBe(false);
  });

  test('end with who asked for them', async () => {
    const { puppet, parts } = stage();
    const backup = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const supervised = supervise(Object.assign(puppet, { backup }), parts);
    const asking = new AbortController();
    const making = supervised.backup?.(asking.signal) as Promise<unknown>;
    asking.abort(new CausewayError('BACKEND_OFFLINE', 'nobody waits any more'));
    await expect(making).rejects.toMatchObject({ code: 'BACKEND_OFFLINE' });
  });
});
