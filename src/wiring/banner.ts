// What a person sees at a start: what it is, where it is, one thing to try.
import type { Gateway } from '../ops/gateway.ts';
import type { SimulatedSystem } from './simulators.ts';

const USUAL = 'http://127.0.0.1:8480';

/** The banner, for a terminal. */
export function banner(
  gateway: Gateway,
  { isDemo, simulated = [] }: { isDemo: boolean; simulated?: readonly SimulatedSystem[] },
): string {
  const { http, mqtt } = gateway.addresses;
  const port = mqtt === undefined ? undefined : new URL(mqtt).port;
  // The command line looks at the usual address by itself.
  const causeway = `npm run causeway --${http === USUAL ? '' : ` --url ${http}`}`;
  const lines = [
    '',
    `  Causeway ${gateway.version}${isDemo ? '   DEMO: a virtual house, nothing real is touched' : ''}`,
    '',
    `  Status  ${http}/status`,
    `  MCP     ${http}/mcp   connect: ${causeway} connect claude-code`,
    ...(mqtt === undefined ? [] : [`  MQTT    ${mqtt}       watch:   mosquitto_sub -p ${port} -t 'causeway/#' -v`]),
    `  House   ${count(gateway.rulebook.list().length, 'rule')}, ${count(gateway.engine.core.devices.all().length, 'device')}`,
    ...simulated.map(({ backend, url }) => `  Bridged ${backend.type}, simulated at ${url}`),
    ...(isDemo
      ? [
          '',
          `  Try     ${causeway} rule list`,
          `          ${causeway} events --follow`,
          '',
          '  Your own house: copy config.example.yaml to config.yaml and start again.',
        ]
      : []),
    ...(gateway.principals.isOpen()
      ? ['', `  No users yet: open to this machine, closed to all others. ${causeway} user add NAME --role admin`]
      : []),
    '',
    '',
  ];
  return lines.join('\n');
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
