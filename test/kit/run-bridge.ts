// The stdio bridge as a process of its own, for tests: node --import tsx run-bridge.ts URL.
import { systemClock } from '../../src/lib/clock.ts';
import { runBridge } from '../../src/mcp/bridge.ts';

await runBridge({
  url: process.argv[2] ?? '',
  token: process.env.CAUSEWAY_TOKEN,
  input: process.stdin,
  output: process.stdout,
  warn: line => void process.stderr.write(`${line}\n`),
  clock: systemClock,
});
