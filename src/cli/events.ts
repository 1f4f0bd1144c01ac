// `causeway events`: what happened, and with --follow what happens.

import { sleep } from '../lib/clock.ts';
import { Unreachable } from './client.ts';
import { whole } from './input.ts';
import { eventLine, nothing } from './output.ts';
import type { Verb } from './parts.ts';

const RETRY_MS = 1_000;

interface Options {
  follow?: boolean;
  limit: number;
  device?: string;
  attribute?: string;
}

/** Prints one line an event; --json prints one JSON object a line. */
export const events: Verb = (program, { io, gateway, show }) => {
  program
    .command('events')
    .description('the newest events; with --follow those that come, until Ctrl-C')
    .option('-f, --follow', 'go on with what happens')
    .option('-n, --limit <n>', 'how many', whole, 20)
    .option('--device <id>', 'only of this device')
    .option('--attribute <name>', 'only of this attribute')
    .action(async ({ follow, limit, device, attribute }: Options, command) => {
      const filter = { ...(device && { device }), ...(attribute && { attribute }) };
      const { json } = command.optsWithGlobals() as { json?: boolean };
      const print = (event: Record<string, unknown>) => {
        io.stdout.write(`${json ? JSON.stringify(event) : eventLine(event)}\n`);
      };
      const client = gateway(command);
      if (!follow) {
        const answer = await client.call('list_events', { ...filter, limit });
        const list = answer.events as Record<string, unknown>[];
        return show(command, answer, list.length > 0 ? list.map(eventLine).join('\n') : nothing('no events', answer));
      }
      for (let connected = false; !io.signal.aborted; ) {
        try {
          for await (const event of client.events(filter)) {
            connected = true;
            print(event);
          }
        } catch (error) {
          if (io.signal.aborted) return;
          // Before the first event it is the address that is wrong; later the gateway restarts.
          if (error instanceof Unreachable && !connected) throw error;
          if (!(error instanceof Unreachable || error instanceof TypeError)) throw error;
        }
        await sleep(io.clock, RETRY_MS, io.signal).catch(() => {});
      }
    });
};
