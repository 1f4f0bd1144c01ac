// What an AI client is told about Causeway when it connects.

/** The server's `instructions`: short, because it stands in every conversation. */
export const INSTRUCTIONS = `Causeway is a home-automation gateway: devices of Hubitat, ioBroker, UniFi and virtual ones on one bus, with durable rules over all of them.

Find things first: list_devices (ids such as hubitat:42, or aliases), then get_device for attributes and commands. Never guess an id; an inexact name is answered with candidates.

To author a rule: get_rule_schema for the fields, check_rule with the draft (says what is wrong or risky, and where), create_rule, then simulate it or run_rule, and get_run to see each step. To change one: get_rule, then update_rule with the revision you read.
"Why did it (not) fire?": list_runs and get_run, also for refused runs. A suspended rule names the loop that it closed; mend it, then resume_rule.

Writes take dry_run: true (check everything, change nothing). Destructive tools want confirm: true. Errors carry code, message, path and a hint that says what to do next.
More operations than the listed tools exist: search_tools, describe_tool, then call_read_tool, call_write_tool or call_destructive_tool.
Subscribe to rule://{id}, rules://all, device://{backend}/{id}, run://{id} or events://recent to be told of changes.`;
