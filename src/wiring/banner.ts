// What a person sees at a start: what it is, where it is, one thing to try.
import type { Gateway } from '../ops/gateway.ts';

/** The banner, for a terminal. */
export function banner(gateway: Gateway, { isDemo }: { isDemo: boolean }): string {
  const { http, mqtt } = gateway.addresses;
  const rules = gateway.rulebook.list();
  const port = mqtt === undefined ? undefined : new URL(mqtt).port;
  const lines = [
    '',
    `  Causeway ${gateway.version}${isDemo ? '   DEMO: a virtual house, nothing real is touched' : ''}`,
    '',
    `  Status  ${http}/status`,
    `  MCP     ${http}/mcp       connect: npm run causeway -- connect claude-code`,
    ...(mqtt === undefined ? [] : [`  MQTT    ${mqtt}          watch:   mosquitto_sub -p ${port} -t 'causeway/#' -v`]),
    `  Rules   ${rules.length}, ${gateway.engine.core.devices.all().length} devices`,
    ...(isDemo
      ? [
          '',
          '  Try     npm run causeway -- rule list',
          '          npm run causeway -- events --follow',
          '',
          '  Your own house: copy config.example.yaml to config.yaml and start again.',
        ]
      : []),
    ...(gateway.principals.isOpen()
      ? ['', '  Nobody has to log in yet, so it listens on this machine only (npm run causeway -- user add <name>).']
      : []),
    '',
    '',
  ];
  return lines.join('\n');
}
