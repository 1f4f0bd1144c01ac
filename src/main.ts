#!/usr/bin/env node
// The process's entry: a command line over the composition root.
import { runCli } from './cli/run.ts';
import { cliParts } from './parts.ts';

process.exitCode = await runCli(process.argv.slice(2), cliParts());
