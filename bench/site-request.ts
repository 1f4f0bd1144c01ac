// What the simulated console of the benchmark is asked, and answers; see site.ts.

/** What it is asked. */
export type SiteRequest =
  | { readonly do: 'start'; readonly devices: number; readonly clients: number }
  /** From now on things happen: flows, so many a second, of which a few are written as late as that. */
  | { readonly do: 'live'; readonly rate: number; readonly latestMs: number }
  /** What is counted begins now. */
  | { readonly do: 'mark' }
  /** What is counted ends now, and life goes on; answered once all flows are written. */
  | { readonly do: 'end' };

/** How it is reached: a part of the configuration of the backend. */
export interface SiteAt {
  readonly url: string;
  readonly api_key: string;
  readonly login: { readonly username: string; readonly password: string };
  readonly tls: { readonly fingerprint: string };
}

/** What was since the mark. */
export interface SiteCounts {
  /** Ids of the flows that have ended. */
  readonly ended: readonly string[];
  readonly perMinute: { readonly requests: number; readonly ofFlows: number; readonly messages: number };
  /** The most that one look at the flows has read. */
  readonly pages: number;
}
