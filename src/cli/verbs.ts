// The verbs of the command line, in the order of its help.
import { backup, restore } from './backup.ts';
import { check } from './check.ts';
import { connect } from './connect.ts';
import { device } from './device.ts';
import { events } from './events.ts';
import { mcp } from './mcp.ts';
import type { Verb } from './parts.ts';
import { rule } from './rule.ts';
import { run } from './runs.ts';
import { demo, serve } from './serve.ts';
import { simulate } from './simulate.ts';
import { user } from './user.ts';

/** All of them. */
export const VERBS: readonly Verb[] = [
  serve,
  demo,
  check,
  simulate,
  rule,
  run,
  device,
  events,
  user,
  connect,
  mcp,
  backup,
  restore,
];
