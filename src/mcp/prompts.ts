// Prompts that a person can pick in the client, as data.
import { CausewayError } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';

/** A prompt: what it asks for, and the text that it becomes. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  text(args: Readonly<Record<string, string>>): string;
}

/** All prompts, in the order in which people see them. */
export const PROMPTS: readonly Prompt[] = [
  {
    name: 'explain_rule',
    title: 'Explain what a rule did last',
    description: 'Why a rule ran, or did not run, the last time, step by step.',
    arguments: [{ name: 'rule', description: 'Id or name of the rule', required: true }],
    text: ({ rule }) =>
      `Explain the last run of the rule "${rule}". Find it with list_rules, read it with get_rule, take its newest run from list_runs (refused runs count) and read that with get_run. Say in plain words what triggered it, what each condition saw, what each step did and what it caused; if it was refused or never ran, say which condition or guard stood in the way and how far it was off. End with what could be changed, if anything.`,
  },
  {
    name: 'draft_rule',
    title: 'Draft a rule',
    description: 'Turn a wish in plain words into a checked rule.',
    arguments: [{ name: 'wish', description: 'What should happen, and when', required: true }],
    text: ({ wish }) =>
      `Draft a rule for this wish: "${wish}". Find the devices with list_devices and get_device, and read get_rule_schema. Write the rule with a clear name and description, a "finally" if it switches something on, and at least one scenario under "tests". Run check_rule until nothing is left but what I should decide, show me the rule and its findings, and ask before create_rule.`,
  },
  {
    name: 'mend_rule',
    title: 'Mend a suspended or failing rule',
    description: 'Find out why a rule is suspended, degraded or failing, and propose the repair.',
    arguments: [{ name: 'rule', description: 'Id or name of the rule', required: true }],
    text: ({ rule }) =>
      `The rule "${rule}" is in trouble. Read it with get_rule, with its status and status_reason, and its last runs with list_runs and get_run. Explain the cause; for a loop name every edge of it. Propose the smallest change that mends it, run check_rule on the changed rule, and ask before update_rule and resume_rule.`,
  },
];

/** The prompt as one message of the user. @throws CausewayError NOT_FOUND, INPUT_INVALID */
export function renderPrompt(
  name: string,
  args: Readonly<Record<string, string>> = {},
): { description: string; text: string } {
  const prompt = PROMPTS.find(candidate => candidate.name === name);
  if (!prompt) {
    const names = PROMPTS.map(candidate => candidate.name);
    throw new CausewayError('NOT_FOUND', `there is no prompt "${name}"`, { hint: didYouMean(name, names) });
  }
  const missing = prompt.arguments.find(argument => argument.required && !args[argument.name]);
  if (missing) {
    throw new CausewayError('INPUT_INVALID', `the prompt ${name} wants the argument "${missing.name}"`, {
      path: missing.name,
    });
  }
  return { description: prompt.description, text: prompt.text(args) };
}
