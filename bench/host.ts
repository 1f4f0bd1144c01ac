// Runs the compiled product (its own composition root) in a process that can be looked into, with a door for what devices
// report: MQTT frames again, so that product and leanest gateway read the same bytes.
import net from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import mqtt from 'mqtt-packet';
import { serveRequests } from './processes.ts';

const [dist = '', config = ''] = process.argv.slice(2);
const load = <T>(module: string): Promise<T> => import(pathToFileURL(join(dist, module)).href) as Promise<T>;
const { startApp } = await load<typeof import('../src/app.ts')>('src/app.js');
const { backendSchemas } = await load<typeof import('../src/backends/index.ts')>('src/backends/index.js');
const { loadConfig } = await load<typeof import('../src/config/load.ts')>('src/config/load.js');
const { houseSchema } = await load<typeof import('../src/config/house.ts')>('src/config/house.js');
const { Target } = await load<typeof import('../src/model/target.ts')>('src/model/target.js');
const { systemClock } = await load<typeof import('../src/lib/clock.ts')>('src/lib/clock.js');
const { createLog } = await load<typeof import('../src/lib/log.ts')>('src/lib/log.js');

type App = Awaited<ReturnType<typeof startApp>>;
let app: App;

async function start(devices: number): Promise<{ door: number }> {
  app = await startApp({
    version: '0.0.0',
    config: loadConfig({ file: config, dir: '.', environment: {}, backends: backendSchemas }).config,
    house: houseSchema(Target).parse({}),
    clock: systemClock,
    log: createLog({ level: 'warn', destination: 'stderr' }),
    isDemo: false,
    mayMove: false,
    async prepare({ virtual }) {
      for (let i = 0; i < devices; i++) {
        virtual.createDevice({ id: `button-${i}`, name: `Button ${i}`, capabilities: ['button'] });
        // Without an echo: the exchange ends with the command.
        virtual.createDevice({
          id: `lamp-${i}`,
          name: `Lamp ${i}`,
          capabilities: ['switch'],
          echo: 'none',
          values: { switch: 'off' },
        });
      }
    },
  });
  const server = net.createServer(socket => {
    const parser = mqtt.parser();
    parser.on('packet', packet => {
      if (packet.cmd === 'connect') {
        socket.write(mqtt.generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }));
      } else if (packet.cmd === 'publish') {
        const { attribute, value } = JSON.parse(packet.payload.toString()) as { attribute: string; value: number };
        app.gateway.virtual.setValue(`virtual:${packet.topic.slice(packet.topic.indexOf('/') + 1)}`, attribute, value);
      }
    });
    socket.on('data', chunk => parser.parse(chunk));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { door: (server.address() as net.AddressInfo).port };
}

type Request = { do: 'start'; devices: number } | { do: 'heap' } | { do: 'traces'; on: boolean } | { do: 'stop' };

let keepTrace: ((trace: never) => void) | undefined;

serveRequests(async (request: Request) => {
  switch (request.do) {
    case 'start':
      return start(request.devices);
    case 'heap': {
      for (let n = 0; n < 3; n++) {
        await new Promise(resolve => setTimeout(resolve, 50));
        globalThis.gc?.();
      }
      return process.memoryUsage().heapUsed;
    }
    case 'traces': {
      const sinks = app.gateway.engine.core.sinks as { onTrace: (trace: never) => void };
      keepTrace ??= sinks.onTrace;
      sinks.onTrace = request.on ? keepTrace : () => {};
      return;
    }
    case 'stop':
      return app.stop();
  }
});
