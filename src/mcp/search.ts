// Which operations are meant by plain words: people and models ask for "turn on the lights", not for send_command.

/** What of an operation is looked at. */
interface Searched {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** Words that say nothing of what is wanted. */
const EMPTY = new Set(
  'a about all an and any are as at be can did do does for from get give has have how i in is it its let list make me my not of off on or please see set show some someone something tell that the there these this to turn up use uses using want was were what when where which who why will with you'.split(
    ' ',
  ),
);

/** What people say, in the words that are used here. */
const SAID: Readonly<Record<string, string>> = {
  automation: 'rule',
  bandwidth: 'traffic bytes',
  broken: 'swap health',
  dim: 'command',
  emergency: 'panic',
  fake: 'virtual',
  family: 'user',
  fire: 'runs trigger',
  graph: 'history events',
  healthy: 'health system',
  history: 'events revisions',
  home: 'devices mode',
  internet: 'wan block client',
  key: 'token',
  kick: 'reconnect block client',
  kid: 'client block',
  lamp: 'device command',
  light: 'device command',
  lock: 'command',
  login: 'user token',
  message: 'events',
  notification: 'command events',
  password: 'user',
  people: 'user',
  replace: 'swap',
  restart: 'reboot',
  revert: 'revisions update',
  security: 'user audit',
  slow: 'health',
  status: 'system health',
  stop: 'panic cancel disable',
  switch: 'command',
  test: 'simulate check',
  time: 'trends',
  trace: 'run',
  undo: 'revisions update',
  vacation: 'mode',
  who: 'audit',
  why: 'runs refused refusals',
  wifi: 'wlan client',
};

const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** The beginning that `rules`, `switching` and `blocked` share with what they come from. */
const stem = (word: string): string => (word.length > 4 ? word.replace(/(ing|ed|es|s)$/, '') : word.replace(/s$/, ''));

/** How much a word says of an operation: most in its name, least in its description. */
function weightIn({ name, title, description }: Searched, word: string): number {
  // A short word begins too many: fire is no firewall.
  const isIt = (other: string) => stem(other) === word || (word.length > 4 && other.startsWith(word));
  const hasIt = (text: string) => wordsIn(text).some(isIt);
  return (hasIt(name) ? 4 : 0) + (hasIt(title) ? 2 : 0) + (hasIt(description) ? 1 : 0);
}

/** The operations that fit, the best first; all of them, as they come, without a word. */
export function searchOps<T extends Searched>(ops: readonly T[], query: string): T[] {
  const asked = wordsIn(query);
  if (asked.length === 0) return [...ops];
  const telling = asked.filter(word => !EMPTY.has(word));
  const own = (telling.length > 0 ? telling : asked).map(stem);
  const others = [...asked, ...own].flatMap(word => wordsIn(SAID[word] ?? '')).map(stem);
  const scores = new Map<T, number>();
  const count = (word: string) => {
    const hits = ops.flatMap(op => {
      const weight = weightIn(op, word);
      return weight > 0 ? [{ op, weight }] : [];
    });
    // A word that many have tells little.
    const rarity = Math.log(1 + ops.length / Math.max(1, hits.length));
    for (const { op, weight } of hits) scores.set(op, (scores.get(op) ?? 0) + weight * rarity);
  };
  for (const word of new Set([...own, ...others])) count(word);
  const named = asked.join('_');
  const scoreOf = (op: T) => (op.name === named ? Number.POSITIVE_INFINITY : (scores.get(op) ?? 0));
  return ops.filter(op => scoreOf(op) > 0).sort((a, b) => (scoreOf(a) === scoreOf(b) ? 0 : scoreOf(b) - scoreOf(a)));
}
