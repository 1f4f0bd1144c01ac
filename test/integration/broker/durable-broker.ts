// Run as a child process, to be killed: a broker on a store, that publishes what it is told to over IPC.
import { openSqliteStore, startBroker } from '../../../broker/index.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';

const broker = await startBroker({
  clock: systemClock,
  log: silentLog,
  authenticate: () => ({ name: 'anybody', publish: ['#', 'causeway/#'], subscribe: ['#'] }),
  root: 'causeway',
  isInput: () => false,
  onPublish() {},
  persistence: openSqliteStore(process.argv[2]!),
});
const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
process.on('message', ({ topic, payload }: { topic: string; payload: string }) => {
  broker.publish(topic, payload, { qos: 1 });
  process.send?.('published');
});
process.send?.({ port });
