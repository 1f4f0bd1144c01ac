// Figures for Prometheus, read when asked for.
import type { Counters } from '../bus/embedded.ts';
import type { Gateway } from '../ops/gateway.ts';

type Sample = [name: string, type: 'counter' | 'gauge', help: string, values: [labels: string, value: number][]];

const plain = (value: number): [string, number][] => [['', value]];

/** The exposition text (Prometheus text format 0.0.4). */
export function metricsOf(gateway: Gateway, broker: Counters | undefined): string {
  const { engine, journal } = gateway;
  const { counters, turns } = engine;
  const { devices, timeline } = engine.core;
  const rules = [...engine.live.values()];
  const written = journal.counters();
  const memory = process.memoryUsage();
  const samples: Sample[] = [
    ['causeway_events_total', 'counter', 'Events that the engine saw', plain(counters.events)],
    ['causeway_reports_total', 'counter', 'Reports of backends', plain(counters.reports)],
    [
      'causeway_reports_discarded_total',
      'counter',
      'Reports that changed nothing',
      [
        ['{why="duplicate"}', counters.duplicates],
        ['{why="late"}', counters.late],
        ['{why="rejected"}', counters.rejected],
        ['{why="unknown_device"}', counters.unknownDevices],
        ['{why="log_flood"}', counters.logsLeftOut],
      ],
    ],
    ['causeway_messages_total', 'counter', 'Messages of the outside that rules look at', plain(counters.messages)],
    ['causeway_turns_total', 'counter', 'Turns of the engine', plain(turns.turns)],
    ['causeway_commits_total', 'counter', 'Turns that changed something durable', plain(turns.commits)],
    [
      'causeway_inputs_coalesced_total',
      'counter',
      'Reports replaced by newer ones in a flood',
      plain(turns.inbox.coalesced),
    ],
    ['causeway_inputs_dropped_total', 'counter', 'Reports dropped in a flood', plain(turns.inbox.dropped)],
    [
      'causeway_rule_runs_total',
      'counter',
      'Runs started',
      rules.map(live => [`{rule="${live.id}"}`, live.runtime.runs]),
    ],
    [
      'causeway_rule_refused_total',
      'counter',
      'Runs refused',
      rules.map(live => [`{rule="${live.id}"}`, live.runtime.refused]),
    ],
    [
      'causeway_rule_suspended',
      'gauge',
      'Whether the rule stands suspended',
      rules.map(live => [`{rule="${live.id}"}`, live.runtime.suspended ? 1 : 0]),
    ],
    ['causeway_runs', 'gauge', 'Runs that wait or run', plain(engine.runs.all().length)],
    ['causeway_timers', 'gauge', 'Pending timers', plain(timeline.pending)],
    ['causeway_devices', 'gauge', 'Devices', plain(devices.all().length)],
    [
      'causeway_backend_online',
      'gauge',
      'Whether the backend is reachable',
      [...devices.allBackends()].map(([id, { state }]) => [`{backend="${id}"}`, state === 'online' ? 1 : 0]),
    ],
    ['causeway_journal_appended_total', 'counter', 'Journal entries', plain(written.appended)],
    ['causeway_journal_dropped_total', 'counter', 'Journal entries that were lost', plain(written.dropped)],
    ['process_resident_memory_bytes', 'gauge', 'Memory of the process', plain(memory.rss)],
    ...(broker ? brokerSamples(broker) : []),
  ];
  return samples
    .filter(([, , , values]) => values.length > 0)
    .map(
      ([name, type, help, values]) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${values.map(([labels, value]) => `${name}${labels} ${value}`).join('\n')}\n`,
    )
    .join('');
}

function brokerSamples(broker: Counters): Sample[] {
  return [
    ['causeway_mqtt_clients', 'gauge', 'Connected MQTT clients', plain(broker.clients)],
    ['causeway_mqtt_received_total', 'counter', 'Publishes taken from clients', plain(broker.received)],
    ['causeway_mqtt_sent_total', 'counter', 'Deliveries to clients', plain(broker.sent)],
    ['causeway_mqtt_retained', 'gauge', 'Retained messages', plain(broker.retained)],
    [
      'causeway_mqtt_notices_total',
      'counter',
      'Things refused, dropped or ended',
      Object.entries(broker.notices).map(([kind, n]) => [`{kind="${kind}"}`, n ?? 0]),
    ],
  ];
}
