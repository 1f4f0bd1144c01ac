// Findings: what the check of a rule has to say, without refusing it.

/** Codes of findings (FORMATS §2.17). */
export const FINDING_CODES = [
  'loop',
  'conflict',
  'never_fires',
  'always_true',
  'duplicate',
  'shadowed',
  'no_off',
  'no_finally',
  'no_timeout',
  'wraps_midnight',
  'skips_months',
  'unknown_device',
  'unknown_command',
  'unknown_variable',
  'unknown_mode',
  'type_mismatch',
  'wait_depends_on_self',
  'invariant',
] as const;

/** One finding, with the place in the rule's path language. */
export interface Finding {
  readonly code: (typeof FINDING_CODES)[number];
  readonly severity: 'error' | 'warning' | 'info';
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}
