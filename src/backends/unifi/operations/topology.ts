// What hangs on what: devices on devices, clients on devices; as JSON, DOT or GraphML.
import { z } from 'zod';
import type { UnifiBackend } from '../index.ts';
import { read } from './row.ts';

const Vertex = z.object({ id: z.string(), kind: z.string(), name: z.string() });
const Edge = z.object({
  from: z.string(),
  to: z.string(),
  how: z.enum(['wired', 'wireless']),
  port: z.number().nullable(),
});
type Graph = { vertices: z.output<typeof Vertex>[]; edges: z.output<typeof Edge>[] };

/** As known now. */
function graphOf(backend: UnifiBackend, withClients: boolean): Graph {
  const { network, name } = backend.ready();
  const vertices: Graph['vertices'] = [];
  const edges: Graph['edges'] = [];
  const idOf = (kind: string, mac: string) => `${backend.id}:${kind}:${mac}`;
  for (const { row, device } of network.devices.all()) {
    vertices.push({ id: device.id, kind: row.type ?? 'device', name: device.name });
    const { type, uplink_mac: above, uplink_remote_port: port } = row.uplink ?? {};
    if (above === undefined || !network.devices.byMac(above)) continue;
    // Not all that is wired tells the port above.
    const isWired = type === undefined ? port !== undefined : type !== 'wireless';
    edges.push({
      from: idOf('device', above),
      to: device.id,
      how: isWired ? 'wired' : 'wireless',
      port: port ?? null,
    });
  }
  if (!withClients) return { vertices, edges };
  for (const row of network.clients.connected()) {
    const id = idOf('client', row.mac);
    vertices.push({ id, kind: 'client', name: name(id) });
    const above = row.is_wired ? row.sw_mac : row.ap_mac;
    if (above === undefined || !network.devices.byMac(above)) continue;
    edges.push({
      from: idOf('device', above),
      to: id,
      how: row.is_wired ? 'wired' : 'wireless',
      port: row.is_wired ? (row.sw_port ?? null) : null,
    });
  }
  return { vertices, edges };
}

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

function dotOf({ vertices, edges }: Graph): string {
  const lines = [
    ...vertices.map(
      ({ id, name, kind }) =>
        `  ${quoted(id)} [label=${quoted(name)}, shape=${kind === 'client' ? 'ellipse' : 'box'}];`,
    ),
    ...edges.map(({ from, to, how, port }) => {
      const label = port === null ? '' : `, label=${quoted(String(port))}`;
      return `  ${quoted(from)} -> ${quoted(to)} [style=${how === 'wired' ? 'solid' : 'dashed'}${label}];`;
    }),
  ];
  return `digraph network {\n${lines.join('\n')}\n}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
// Control characters are no XML at all, escaped or not.
const escaped = (text: string): string =>
  [...text]
    .filter(one => one >= ' ')
    .join('')
    .replace(/[&<>"]/g, one => ENTITIES[one] as string);

function graphmlOf({ vertices, edges }: Graph): string {
  const data = (key: string, value: string | number | null) =>
    value === null ? '' : `<data key="${key}">${escaped(String(value))}</data>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ...['name', 'kind'].map(key => `<key id="${key}" for="node" attr.name="${key}" attr.type="string"/>`),
    ...['how', 'port'].map(key => `<key id="${key}" for="edge" attr.name="${key}" attr.type="string"/>`),
    '<graph edgedefault="directed">',
    ...vertices.map(
      ({ id, name, kind }) => `<node id="${escaped(id)}">${data('name', name)}${data('kind', kind)}</node>`,
    ),
    ...edges.map(
      ({ from, to, how, port }) =>
        `<edge source="${escaped(from)}" target="${escaped(to)}">${data('how', how)}${data('port', port)}</edge>`,
    ),
    '</graph>',
    '</graphml>',
    '',
  ].join('\n');
}

const getTopology = read({
  name: 'get_unifi_topology',
  title: 'What hangs on what in a UniFi network',
  description:
    'The devices of a UniFi network and what they hang on, with their ports, and the connected clients; as a list, or as a text in DOT or GraphML for other programs.',
  input: { format: z.enum(['json', 'dot', 'graphml']).default('json'), clients: z.boolean().default(true) },
  output: { vertices: z.array(Vertex).optional(), edges: z.array(Edge).optional(), content: z.string().optional() },
  path: 'topology',
  async run(backend, { format, clients }) {
    const graph = graphOf(backend, clients);
    if (format === 'json') return graph;
    return { content: format === 'dot' ? dotOf(graph) : graphmlOf(graph) };
  },
});

/** What hangs on what. */
export const topologyRows = [getTopology];
