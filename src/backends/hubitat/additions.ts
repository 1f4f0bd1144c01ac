// What drivers tell beyond what they declare: attributes of their own, further words of an enum. It is declared then, so
// that nothing is lost, and stays declared while the device keeps its driver.
import type { Mapped } from './map.ts';
import type { Reader } from './values.ts';

/** What was added to a device's declaration. */
export interface Additions {
  readonly attributes: Set<string>;
  /** By attribute. */
  readonly words: Map<string, Set<string>>;
}

/** Nothing. */
export const noAdditions = (): Additions => ({ attributes: new Set(), words: new Map() });

/** A driver that makes up names without end must not fill the registry. */
const MOST = 100;

/** The device with an attribute that it told without having declared it; the same object where there are too many. */
export function withAttribute(mapped: Mapped, additions: Additions, name: string): Mapped {
  if (additions.attributes.size >= MOST) return mapped;
  additions.attributes.add(name);
  return redeclared(mapped, name, { form: 'plain', declared: { type: 'string' } });
}

/** What is written where there is nothing to say. */
const NO_WORDS: readonly string[] = ['', 'null', 'unknown'];

/** The word that an enum's driver told without having declared it, if this is one. */
export function newWord({ declared }: Reader, value: unknown): string | undefined {
  if (declared.type !== 'enum' || typeof value !== 'string' || NO_WORDS.includes(value)) return undefined;
  const known = declared.values ?? [];
  const isKnown = known.some(word => word.toLowerCase() === value.toLowerCase());
  return isKnown || known.length >= MOST ? undefined : value;
}

/** The device with a further word of an enum. */
export function withWord(mapped: Mapped, additions: Additions, name: string, word: string): Mapped {
  const words = additions.words.get(name) ?? new Set();
  additions.words.set(name, words.add(word));
  return widened(mapped, name, [word]);
}

/** A device as the hub declares it now, with what was added before. */
export function withAdditions(mapped: Mapped, { attributes, words }: Additions): Mapped {
  let now = mapped;
  for (const name of attributes) {
    if (!now.readers.has(name)) now = redeclared(now, name, { form: 'plain', declared: { type: 'string' } });
  }
  for (const [name, more] of words) now = widened(now, name, [...more]);
  return now;
}

function widened(mapped: Mapped, name: string, words: readonly string[]): Mapped {
  const reader = mapped.readers.get(name);
  if (reader?.declared.type !== 'enum') return mapped;
  const values = [...new Set([...(reader.declared.values ?? []), ...words])];
  return redeclared(mapped, name, { ...reader, declared: { ...reader.declared, values } });
}

// Another object, since the old one is in others' hands.
const redeclared = (mapped: Mapped, name: string, reader: Reader): Mapped => ({
  ...mapped,
  readers: new Map(mapped.readers).set(name, reader),
  device: { ...mapped.device, attributes: { ...mapped.device.attributes, [name]: reader.declared } },
});
