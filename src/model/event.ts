// Events: something happened; immutable; the envelope that the bus, the journal and the engine share.
import type { Cause } from './cause.ts';
import type { Json, Quality } from './value.ts';

/** The envelope. Instants are epoch milliseconds here and ISO 8601 on the wire. */
export interface Event {
  readonly v: 1;
  /** ULID. */
  readonly id: string;
  readonly kind: 'device' | 'state' | 'flow' | 'input' | 'system';
  /** Wall time, epoch ms. */
  readonly ts: number;
  /** Id of this process's start. */
  readonly boot: string;
  /** Rises by one with each event of one boot. */
  readonly seq: number;
  readonly backend: string;
  readonly device: string;
  /** Attribute, or the name of a momentary event. */
  readonly attribute: string;
  readonly value: Json;
  readonly previous: Json | null;
  readonly unit?: string;
  readonly quality: Quality;
  /** `changed`: it differs from the last good value; `reported`: it does not; `resync`: told before the backend was ready. */
  readonly change: 'changed' | 'reported' | 'resync';
  readonly cause: Cause;
  /** Of the notification that was answered, on `house:notify`. */
  readonly tag?: string;
}

/** What a backend tells its sink. */
export type Report =
  | {
      readonly type: 'value';
      readonly device: string;
      readonly attribute: string;
      readonly value: unknown;
      /** Epoch ms at the source, where it is told. */
      readonly sourceTime?: number;
      /** Rises at the source; an older one is late. */
      readonly seq?: number;
      /** Id at the source; one seen before is a duplicate. */
      readonly id?: string;
      readonly quality?: Quality;
      /** Who did it, where the system tells; `device` otherwise. */
      readonly by?: 'device' | 'user';
      /** Of a derived value (a group, a person): the cause of what it derives from. */
      readonly cause?: Cause;
    }
  | {
      /** A momentary event (a button press). */
      readonly type: 'event';
      readonly device: string;
      readonly name: string;
      readonly value: unknown;
      readonly sourceTime?: number;
      readonly id?: string;
    }
  | { readonly type: 'availability'; readonly device: string; readonly state: 'online' | 'offline' | 'unknown' }
  | { readonly type: 'flow'; readonly site: string; readonly flow: Json }
  | { readonly type: 'mode'; readonly mode: string }
  /** Where the system stands, in degrees, north and east positive. */
  | { readonly type: 'place'; readonly latitude: number; readonly longitude: number }
  | { readonly type: 'log'; readonly device?: string; readonly level: string; readonly message: string };
