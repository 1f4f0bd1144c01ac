// `causeway mcp`: the stdio bridge for MCP clients that start a process.
import { runBridge } from '../mcp/bridge.ts';
import type { Verb } from './parts.ts';

/** Forwards to the running gateway; with --standalone it runs one itself. Only messages go to stdout. */
export const mcp: Verb = (program, { parts, io, gateway }) => {
  program
    .command('mcp')
    .description('MCP over standard input and output, forwarded to the running gateway')
    .option('--standalone', 'run the gateway in this process')
    .option('-c, --config <file>', 'config.yaml to use with --standalone')
    .action(async ({ standalone, config }: { standalone?: boolean; config?: string }, command) => {
      const { url, token } = gateway(command);
      const warn = (line: string) => void io.stderr.write(`causeway mcp: ${line}\n`);
      const bridge = (to: string) =>
        runBridge({ url: to, token, input: io.stdin, output: io.stdout, warn, clock: io.clock, signal: io.signal });
      if (!standalone) return bridge(url);

      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, io.signal]);
      await new Promise<void>((resolve, reject) => {
        const onReady = (at: string) =>
          void bridge(at)
            .finally(() => stop.abort())
            .catch(reject);
        parts.serve({ ...(config && { config }), log: 'stderr', signal, onReady }).then(resolve, reject);
      });
    });
};
