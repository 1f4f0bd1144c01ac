// Tables of docs/operations.md: every operation with its MCP tool, REST route and CLI verb; resources; the command line.
import { Command } from 'commander';
import type { z } from 'zod';
import { type CliContext, EXIT } from '../../src/cli/parts.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { pathOf } from '../../src/http/rest.ts';
import { CATALOGUE } from '../../src/mcp/catalogue.ts';
import { PROMPTS } from '../../src/mcp/prompts.ts';
import { MAX_TOOLS } from '../../src/mcp/protocol.ts';
import type { Gateway } from '../../src/ops/gateway.ts';
import { ops } from '../../src/ops/index.ts';
import { resourcesOf } from '../../src/ops/resources.ts';
import { ROLES, SCOPES, scopesOf } from '../../src/policy/roles.ts';
import { fieldsOf, fieldTable } from './fields.ts';
import { code, codes, prose, table } from './markdown.ts';
import type { Tables } from './template.ts';

/** Operation → how it is called from a shell; those without a verb are left out. */
export const CLI_OF: Readonly<Record<string, string>> = {
  list_rules: 'rule list',
  get_rule: 'rule get',
  check_rule: 'rule check',
  create_rule: 'rule create',
  update_rule: 'rule update',
  delete_rule: 'rule delete',
  enable_rule: 'rule enable',
  disable_rule: 'rule disable',
  resume_rule: 'rule resume',
  run_rule: 'rule run',
  simulate_rules: 'simulate',
  list_devices: 'device list',
  get_device: 'device get',
  send_command: 'device command',
  create_device: 'device create',
  rename_device: 'device rename',
  delete_device: 'device delete',
  list_events: 'events',
  list_users: 'user list',
  add_user: 'user add',
  remove_user: 'user remove',
  create_token: 'user token',
};

const listed = new Set(
  ops
    .filter(op => op.listed)
    .slice(0, MAX_TOOLS - CATALOGUE.length)
    .map(op => op.name),
);

/** Fills docs/operations.md. */
export const operationTables = (): Tables => ({
  operations: ops.map(operation).join('\n\n'),
  overview: table(
    ['operation', 'MCP', 'REST', 'CLI'],
    ops.map(op => [
      `[${op.name}](#${op.name})`,
      listed.has(op.name) ? 'tool' : 'catalogue',
      code(routeOf(op)),
      CLI_OF[op.name] === undefined ? '' : code(CLI_OF[op.name] as string),
    ]),
  ),
  scopes: table(
    ['role', ...SCOPES],
    ROLES.map(role => [role, ...SCOPES.map(scope => (scopesOf(role).has(scope) ? 'yes' : ''))]),
  ),
  catalogue: table(
    ['tool', 'what it does'],
    CATALOGUE.map(({ name, description }) => [code(name), description]),
  ),
  // Only the templates are looked at, which no gateway stands behind.
  resources: table(
    ['URI', 'content'],
    resourcesOf(undefined as unknown as Gateway).map(({ template, description }) => [code(template), description]),
  ),
  prompts: table(
    ['prompt', 'what it does'],
    PROMPTS.map(({ name, description }) => [code(name), description]),
  ),
  verbs: table(
    ['verb', 'what it does', 'options'],
    verbsOf(program()).map(command => [
      code(usageOf(command)),
      command.description(),
      codes(command.options.map(option => option.flags)),
    ]),
  ),
  exits: table(
    ['exit code', 'means'],
    Object.entries(EXIT).map(([name, exit]) => [String(exit), EXITS[name as keyof typeof EXIT]]),
  ),
});

const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'it is done',
  failed: 'a check or a scenario did not pass',
  usage: 'the command line is wrong',
  unreachable: 'no gateway answers',
  refused: 'the gateway refused, or failed; the message says why',
  interrupted: 'Ctrl-C',
};

const routeOf = (op: (typeof ops)[number]): string => `${op.route[0]} ${pathOf(op)}`;

function operation(op: (typeof ops)[number]): string {
  const marks = [op.effect, `scope ${code(op.scope)}`, ...(op.idempotent ? ['idempotent'] : []), code(routeOf(op))];
  const fields = fieldsOf(op.input as z.ZodObject);
  return [
    `### ${op.name}`,
    prose(op.description),
    marks.join(' · '),
    ...(fields.length > 0 ? [fieldTable(fields)] : []),
  ].join('\n\n');
}

/** The command line's verbs, as the program declares them. */
export function program(): Command {
  const root = new Command('causeway');
  // Verbs look at the environment for defaults while they are declared; nothing is run.
  const context = { io: { env: {} } } as unknown as CliContext;
  for (const verb of VERBS) verb(root, context);
  return root;
}

/** All commands that do something: those without commands below them. */
export const verbsOf = (command: Command): Command[] =>
  command.commands.flatMap(child => (child.commands.length > 0 ? verbsOf(child) : [child]));

/** `rule create <file>`. */
function usageOf(command: Command): string {
  const args = command.registeredArguments.map(arg => {
    const name = arg.variadic ? `${arg.name()}...` : arg.name();
    return arg.required ? `<${name}>` : `[${name}]`;
  });
  return [nameOf(command), ...args].join(' ');
}

/** `rule create`. */
export function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}
