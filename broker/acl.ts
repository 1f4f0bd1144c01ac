// What a principal may publish to and subscribe to. Default deny: a filter that is not listed is refused.
import type { Limits } from './limits.ts';
import { covers, isFilter, isTopic, isUnder, levelCount, matches } from './topics.ts';
import type { Principal } from './types.ts';

/**
 * What becomes of a publish: `allowed`; `input`, allowed unless it is retained; `malformed`, a breach of the protocol;
 * anything else says why it is denied.
 */
export type PublishVerdict = 'allowed' | 'input' | 'malformed' | 'too long' | 'not an input' | 'not permitted';

// MQTT allows 64 kB, which as filters of sessions or keys of a cache would add up.
const MAX_LENGTH = 1_024;
const isTooLong = (topic: string, levels: number) => topic.length > MAX_LENGTH || levelCount(topic) > levels;

/** Where outsiders may publish: everywhere outside the root that their filters allow, and to the inputs under it. */
export function judgePublish(
  principal: Principal,
  topic: string,
  rules: { root: string; isInput(topic: string): boolean; levels: number },
): PublishVerdict {
  if (!isTopic(topic)) return 'malformed';
  if (isTooLong(topic, rules.levels)) return 'too long';
  const isOurs = isUnder(rules.root, topic);
  // Whoever asks: no permission would help.
  if (isOurs && !rules.isInput(topic)) return 'not an input';
  // `#` means the topics of others: under the root only a filter that names it lets anybody in.
  const counts = (filter: string) => !isOurs || isUnder(rules.root, filter);
  if (topic.startsWith('$') || !principal.publish.some(filter => counts(filter) && matches(filter, topic)))
    return 'not permitted';
  return isOurs ? 'input' : 'allowed';
}

/** Why a subscription is refused, or undefined. `$share/` would be granted by aedes and then deliver nothing. */
export function judgeSubscribe(
  principal: Principal,
  filter: string,
  limits: Pick<Limits, 'levels'>,
): 'malformed' | 'too long' | 'reserved' | 'not permitted' | undefined {
  if (!isFilter(filter)) return 'malformed';
  if (isTooLong(filter, limits.levels)) return 'too long';
  if (filter.startsWith('$')) return 'reserved';
  return principal.subscribe.some(allowed => covers(allowed, filter)) ? undefined : 'not permitted';
}

/** Whether a message on `topic` may go to the principal, however it came to be addressed to it. */
export const mayRead = (principal: Principal, topic: string): boolean =>
  principal.subscribe.some(filter => matches(filter, topic));
