// The last values of each attribute in memory: "the last few of this sensor" without touching the disk.
import type { Json } from '../model/value.ts';

/** A value at an instant, epoch ms. */
interface PastValue {
  readonly ts: number;
  readonly value: Json;
}

/** The ring. */
interface Ring {
  add(subject: string, attribute: string, past: PastValue): void;
  /** Oldest first. */
  recent(subject: string, attribute: string): readonly PastValue[];
}

/**
 * Keeps the last `perAttribute` values of each of at most `attributes` attributes (the first that come: a house has its
 * devices from the start, and what floods a ring with new names is nothing worth keeping).
 */
export function valueRing(perAttribute: number, attributes: number): Ring {
  const subjects = new Map<string, Map<string, PastValue[]>>();
  let known = 0;
  return {
    add(subject, attribute, past) {
      let ofSubject = subjects.get(subject);
      const values = ofSubject?.get(attribute);
      if (!values) {
        if (known >= attributes) return;
        known++;
        if (!ofSubject) {
          ofSubject = new Map();
          subjects.set(subject, ofSubject);
        }
        // V8 makes room for seventeen at the first push; most attributes of a large house tell one.
        ofSubject.set(attribute, [past]);
        return;
      }
      if (values.length >= perAttribute) values.shift();
      values.push(past);
    },
    recent: (subject, attribute) => [...(subjects.get(subject)?.get(attribute) ?? [])],
  };
}
