// Signals: everything that can start a rule or change a condition, as events on keys. An event touches only those who
// named its key.
import { Observable, Subject } from 'rxjs';
import { Keyed } from '../lib/keyed.ts';
import { FilterSet } from '../lib/topic.ts';
import type { Event } from '../model/event.ts';

/** Keys of signals. */
export const keys = {
  /** A value or momentary event of a device. */
  attribute: (device: string, attribute: string) => `d|${device}|${attribute}`,
  availability: (device: string) => `a|${device}`,
  /** The registry has a device anew, otherwise, or no more. */
  device: (device: string) => `r|${device}`,
  mode: 'm',
  variable: (name: string) => `v|${name}`,
  /** A rule's own variable. */
  own: (rule: string, name: string) => `o|${rule}|${name}`,
  topic: (filter: string) => `t|${filter}`,
  flow: 'f',
  command: (device: string) => `c|${device}`,
  webhook: (id: string) => `w|${id}`,
  startup: 'startup',
  rule: (id: string) => `R|${id}`,
  answer: 'answer',
  log: 'log',
} as const;

/** The engine's stream of events, by key. */
export class Signals {
  private readonly keyed = new Keyed<Event>();
  /** Of messages, by filter. */
  private readonly messages = new Keyed<Event>();
  private readonly filters = new FilterSet();
  /** Topics whose last payload decides something, so that it has to outlive the process. */
  private readonly kept = new FilterSet();
  /** Snapshots were told: levels that are watched are to be looked at again. */
  readonly look$ = new Subject<void>();

  on(key: string): Observable<Event> {
    return this.keyed.on(key);
  }

  /** Messages on topics that match the filter. */
  topic(filter: string): Observable<Event> {
    const inner = this.messages.on(filter);
    return new Observable<Event>(subscriber => {
      this.filters.add(filter);
      const subscription = inner.subscribe(subscriber);
      return () => {
        subscription.unsubscribe();
        this.filters.delete(filter);
      };
    });
  }

  /** True when some rule listens to the topic, or looks at its last payload. */
  wantsTopic(topic: string): boolean {
    return this.filters.match(topic).length > 0 || this.keepsTopic(topic);
  }

  /** Follows the filters whose last payloads a rule looks at: `now` in the place of `before`. */
  keepTopics(now: readonly string[], before: readonly string[]): void {
    for (const filter of now) this.kept.add(filter);
    for (const filter of before) this.kept.delete(filter);
  }

  keepsTopic(topic: string): boolean {
    return this.kept.match(topic).length > 0;
  }

  emit(key: string, event: Event): void {
    this.keyed.emit(key, event);
  }

  emitTopic(topic: string, event: Event): void {
    for (const filter of this.filters.match(topic)) this.messages.emit(filter, event);
  }

  /** True while somebody listens. */
  has(key: string): boolean {
    return this.keyed.has(key);
  }

  get size(): number {
    return this.keyed.size + this.messages.size;
  }
}
