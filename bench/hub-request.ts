// What the simulated hub of the benchmark is asked, and answers; see hub.ts.

/** Lamp `1001` follows sensor `1`, and so on. */
export const LAMPS = 1_000;

/** What it is asked. */
export type HubRequest =
  | { readonly do: 'start'; readonly pairs: number }
  | { readonly do: 'large'; readonly devices: number; readonly attributes: number }
  | { readonly do: 'first' }
  | { readonly do: 'pace'; readonly rate: number; readonly events: number };

/** How long the way took, in milliseconds, and how many events led to no command. */
export interface Pace {
  readonly p50: number;
  readonly p99: number;
  readonly lost: number;
}
