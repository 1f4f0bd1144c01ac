// The command line: one program from the table of verbs, global options, errors as one line with a hint, exit codes.
import { homedir } from 'node:os';
import { Command, CommanderError } from 'commander';
import { systemClock } from '../lib/clock.ts';
import { asCausewayError } from '../lib/errors.ts';
import { createClient, DEFAULT_URL, Unreachable } from './client.ts';
import { type CliContext, CliExit, type CliIo, type CliParts, EXIT } from './parts.ts';
import { VERBS } from './verbs.ts';

interface GlobalOptions {
  url?: string;
  token?: string;
  json?: boolean;
}

/** Runs a command line (without `node` and the file); answers the exit code. Never throws. */
export async function runCli(argv: readonly string[], parts: CliParts, io: CliIo = processIo()): Promise<number> {
  const program = programOf(parts, io);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return EXIT.ok;
  } catch (thrown) {
    if (thrown instanceof CliExit) return thrown.code;
    if (io.signal.aborted) return EXIT.interrupted;
    // Commander has said already what is wrong.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return report(thrown, program.opts<GlobalOptions>().json === true, io);
  }
}

function programOf(parts: CliParts, io: CliIo): Command {
  const context: CliContext = {
    parts,
    io,
    gateway(command) {
      const { url, token } = command.optsWithGlobals<GlobalOptions>();
      return createClient({
        url: url ?? io.env.CAUSEWAY_URL ?? DEFAULT_URL,
        token: token ?? io.env.CAUSEWAY_TOKEN,
        version: parts.version,
        signal: io.signal,
      });
    },
    show(command, value, text) {
      const { json } = command.optsWithGlobals<GlobalOptions>();
      io.stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
    },
  };
  const program = new Command('causeway')
    .description('An automation gateway over Hubitat, ioBroker and UniFi: one bus, durable rules, MCP')
    .version(parts.version)
    .option('--url <url>', `the gateway (CAUSEWAY_URL, else ${DEFAULT_URL})`)
    .option('--token <token>', 'a token of yours (CAUSEWAY_TOKEN)')
    .option('--json', 'print JSON')
    .showHelpAfterError('(causeway help shows what there is)')
    .exitOverride()
    .configureOutput({ writeOut: text => void io.stdout.write(text), writeErr: text => void io.stderr.write(text) });
  for (const verb of VERBS) verb(program, context);
  return program;
}

/** One line and what to do next; with --json the error as REST has it. */
function report(thrown: unknown, json: boolean, io: CliIo): number {
  if (thrown instanceof Unreachable) {
    const body = { error: { code: 'UNREACHABLE', message: thrown.message, hint: thrown.hint } };
    io.stderr.write(json ? `${JSON.stringify(body)}\n` : `${thrown.message}\n  ${thrown.hint}\n`);
    return EXIT.unreachable;
  }
  const error = asCausewayError(thrown);
  const hint = error.code === 'CONFIRM_REQUIRED' ? 'add --yes to confirm' : error.hint;
  // Messages about a file or an input name the place themselves, and some their hint.
  const where = error.path && !error.message.includes(`${error.path}: `) ? `${error.path}: ` : '';
  const lines = [
    `${error.code}: ${where}${error.message}`,
    ...(hint && !error.message.endsWith(hint) ? [`  ${hint}`] : []),
  ];
  io.stderr.write(json ? `${JSON.stringify({ error: error.toJSON() })}\n` : `${lines.join('\n')}\n`);
  return EXIT.refused;
}

/** The real process; the first Ctrl-C or SIGTERM asks to stop, the second ends at once. */
function processIo(): CliIo {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    cwd: process.cwd(),
    home: homedir(),
    clock: systemClock,
    signal: stop.signal,
  };
}
