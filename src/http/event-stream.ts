// GET /api/events/stream: the gateway's events as server-sent events. A reader who does not keep up loses the oldest
// and is told how many; he never costs memory.
import type { Observable, Subscription } from 'rxjs';
import type { Cancel, Clock } from '../lib/clock.ts';
import { type HttpApp, wantScope } from './app.ts';

/** An event as it stands on the wire; the stream can be narrowed by these. */
export interface StreamedEvent {
  readonly id: string;
  readonly kind?: string;
  readonly backend?: string;
  readonly device?: string;
  readonly attribute?: string;
}

const FILTERS = ['kind', 'backend', 'device', 'attribute'] as const;
const MAX_WAITING = 1_000;
const KEEP_ALIVE_MS = 15_000;

/** Adds the route. */
export function mountEventStream(app: HttpApp, events$: Observable<StreamedEvent>, clock: Clock): void {
  app.get('/api/events/stream', wantScope('read'), c => {
    const wanted = FILTERS.flatMap(key => (c.req.query(key) === undefined ? [] : [[key, c.req.query(key)] as const]));
    const passes = (event: StreamedEvent) => wanted.every(([key, value]) => event[key] === value);
    return new Response(streamOf(events$, passes, clock), {
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      },
    });
  });
}

/** The stream's bytes; exported for its test. */
export function streamOf(
  events$: Observable<StreamedEvent>,
  passes: (event: StreamedEvent) => boolean,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const waiting: StreamedEvent[] = [];
  let dropped = 0;
  let subscription: Subscription | undefined;
  let cancelTimer: Cancel | undefined;
  let complete = false;

  const drain = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    while ((controller.desiredSize ?? 0) > 0 && (dropped > 0 || waiting.length > 0)) {
      let frame: string;
      if (dropped > 0) frame = `event: dropped\ndata: {"count":${dropped}}\n\n`;
      else {
        const event = waiting.shift() as StreamedEvent;
        frame = `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;
      }
      dropped = 0;
      controller.enqueue(encoder.encode(frame));
    }
    if (complete && waiting.length === 0) controller.close();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(': open\n\n'));
        const keepAlive = () => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': alive\n\n'));
          cancelTimer = clock.after(KEEP_ALIVE_MS, keepAlive);
        };
        cancelTimer = clock.after(KEEP_ALIVE_MS, keepAlive);
        subscription = events$.subscribe({
          next: event => {
            if (!passes(event)) return;
            waiting.push(event);
            if (waiting.length > MAX_WAITING) {
              waiting.shift();
              dropped++;
            }
            drain(controller);
          },
          complete: () => {
            cancelTimer?.();
            complete = true;
            drain(controller);
          },
        });
      },
      pull: drain,
      cancel() {
        subscription?.unsubscribe();
        cancelTimer?.();
      },
    },
    { highWaterMark: 16 },
  );
}
