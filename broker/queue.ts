// The queue of one session: what it has not acknowledged, in order. aedes calls with packets of its own making, so
// entries are found by the broker's counter before they were sent and by the message id afterwards.
import type { AedesPacket } from './aedes.ts';

/** The release that is owed after a PUBREC, in the place of its message. */
interface Release {
  cmd: 'pubrel';
  messageId: number;
}

/** A queued packet; its `messageId` is set once it was sent. */
export type Outgoing = AedesPacket | Release;

/** As much of a packet as tells which entry is meant. */
export type Reference = { cmd?: string; messageId?: number; brokerId?: string | null; brokerCounter?: number };

/** An entry of a queue. `seq` rises over all queues. */
export interface Queued {
  readonly seq: number;
  readonly session: string;
  readonly bytes: number;
  packet: Outgoing;
}

/** What waits for one session. */
export interface Queue {
  readonly entries: readonly Queued[];
  add(entry: Queued): void;
  /** Notes that a packet is being sent: its id (which is changed if another entry has it), or the release it has become. */
  sending(packet: Reference): void;
  /** Takes the entry out that a packet acknowledges or stands for. */
  settle(packet: Reference): Outgoing | undefined;
  /** What was sent and not acknowledged is sent again as a duplicate (MQTT-3.3.1-1). */
  markResent(): void;
  clear(): void;
}

const LAST_ID = 65_535;

/** An empty queue. `added`, `changed` and `removed` hear of each entry; `overflowed` when the oldest had to go. */
export function createQueue(options: {
  maxMessages: number;
  maxBytes: number;
  changed(entry: Queued): void;
  removed(entry: Queued): void;
  overflowed(entry: Queued): void;
}): Queue {
  const { maxMessages, maxBytes, changed, removed, overflowed } = options;
  const entries: Queued[] = [];
  let bytes = 0;

  const take = (index: number): Queued | undefined => {
    if (index < 0) return undefined;
    const entry = entries[index]!;
    if (index === 0) entries.shift();
    else entries.splice(index, 1);
    bytes -= entry.bytes;
    removed(entry);
    return entry;
  };
  const byId = (messageId: number | undefined) =>
    messageId === undefined ? -1 : entries.findIndex(entry => entry.packet.messageId === messageId);
  // The latest are at the end, and that is where aedes looks for what it has just routed.
  const byCounter = ({ brokerId, brokerCounter }: Reference) =>
    entries.findLastIndex(
      ({ packet }) =>
        packet.cmd === 'publish' && packet.brokerCounter === brokerCounter && packet.brokerId === brokerId,
    );
  const freeId = (wanted: number, own: Queued) => {
    const used = new Set(entries.filter(entry => entry !== own).map(entry => entry.packet.messageId));
    let id = wanted;
    while (used.has(id)) id = id >= LAST_ID ? 1 : id + 1;
    return id;
  };

  return {
    entries,
    add(entry) {
      entries.push(entry);
      bytes += entry.bytes;
      changed(entry);
      while (entries.length > maxMessages || bytes > maxBytes) overflowed(take(0)!);
    },
    sending(packet) {
      if (packet.messageId === undefined) return;
      if (packet.cmd === 'pubrel') {
        const entry = entries[byId(packet.messageId)];
        if (!entry) return;
        entry.packet = { cmd: 'pubrel', messageId: packet.messageId };
        return changed(entry);
      }
      const entry = entries[byCounter(packet)];
      if (!entry || entry.packet.messageId === packet.messageId) return;
      // Ids start at random for each connection, so one may still be in use from the last.
      packet.messageId = freeId(packet.messageId, entry);
      entry.packet.messageId = packet.messageId;
      changed(entry);
    },
    settle(packet) {
      // Without an id it is a message that its client may not read: aedes asks to forget the copy that it did not send.
      const index = packet.cmd === 'publish' ? byCounter(packet) : -1;
      return take(index >= 0 ? index : byId(packet.messageId))?.packet;
    },
    markResent() {
      for (const { packet } of entries)
        if (packet.cmd === 'publish' && packet.messageId !== undefined) packet.dup = true;
    },
    clear() {
      while (entries.length > 0) take(entries.length - 1);
    },
  };
}
