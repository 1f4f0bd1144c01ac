// Answers of the console that are taken for true for a while, so that somebody who asks much does not wear it out. Whatever is
// changed through us forgets them all.
import type { Clock } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';
import type { Surface } from './console/answers.ts';
import type { ConsoleClient } from './console/client.ts';

/** Answers that are kept. */
export interface AnswersKept {
  /** @param seconds how old one may be; 0: it is asked each time @throws BACKEND_OFFLINE, and as `ConsoleClient.read` */
  read(surface: Surface, path: string, how: { seconds: number; fresh: boolean; signal: AbortSignal }): Promise<Json>;
  forget(): void;
}

const MOST = 100;

/** @param client of the present connection; throws while there is none */
export function keepAnswers(clock: Clock, client: () => ConsoleClient): AnswersKept {
  const kept = new Map<string, { readonly at: number; readonly body: Json }>();
  let changes = 0;
  return {
    async read(surface, path, { seconds, fresh, signal }) {
      const asked = client();
      const key = `${surface} ${path}`;
      const last = kept.get(key);
      if (last && !fresh && clock.elapsed() - last.at < seconds * 1_000) return last.body;
      const before = changes;
      const body = await asked.read(surface, path, { signal });
      // What was on its way during a change may be of before it.
      if (seconds > 0 && changes === before) kept.set(key, { at: clock.elapsed(), body });
      if (kept.size > MOST) kept.delete(kept.keys().next().value as string);
      return body;
    },
    forget() {
      changes++;
      kept.clear();
    },
  };
}
