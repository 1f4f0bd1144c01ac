// The flows that were told a moment ago, for those who look on.
import type { ShownFlow } from './flow.ts';

const MOST = 200;

/** The newest flows, and who wants to know of further ones. */
export class RecentFlows {
  private readonly flows: ShownFlow[] = [];
  private readonly watching = new Set<{ readonly action: string; readonly tell: () => void }>();

  /** One more. */
  tell(flow: ShownFlow): void {
    this.flows.push(flow);
    if (this.flows.length > MOST) this.flows.shift();
    for (const { action, tell } of this.watching) if (action === 'all' || action === flow.action) tell();
  }

  /** Newest first. @param action allowed, blocked or all */
  newest(action: string): ShownFlow[] {
    return this.flows.filter(flow => action === 'all' || flow.action === action).reverse();
  }

  /** Calls `tell` at each further one; what it returns ends that. */
  watch(action: string, tell: () => void): () => void {
    const one = { action, tell };
    this.watching.add(one);
    return () => void this.watching.delete(one);
  }
}
