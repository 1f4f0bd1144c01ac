// The leanest client that writes what it hears of one state into another, over the same adapter of ioBroker: no rules, no
// store, no bus. Run by iobroker.ts with the adapter's address.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { serveRequests } from './processes.ts';

const [url = ''] = process.argv.slice(2);

serveRequests(async ({ from, to }: { from: string; to: string }) => {
  const socket = new WebSocket(`${url}/?sid=1&name=leanest`);
  let calls = 1;
  const isSubscribed = new Promise<void>(resolve => {
    socket.on('message', data => {
      const [type, id, name, args] = JSON.parse(String(data)) as [number, number, string, [string, { val: number }]];
      if (type === 1) socket.send('[2]');
      else if (type === 3 && id === 1) resolve();
      else if (name === 'stateChange' && args[0].startsWith(from)) {
        const target = to + args[0].slice(from.length);
        socket.send(JSON.stringify([3, ++calls, 'setState', [target, { val: args[1].val, ack: false }]]));
      }
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify([3, 1, 'subscribe', [`${from}*`]]));
  await isSubscribed;
});
