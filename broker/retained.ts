// The last message of each topic that was published with the retain flag. What lies under the root is derived from the
// gateway's state and never saved; what lies outside is saved and limited.
import type { AedesPacket } from './aedes.ts';
import { bytesOf, compact } from './bytes.ts';
import { createLevelTree } from './level-tree.ts';
import type { RetainedRow } from './store.ts';

/** The retained messages of a broker. */
export interface RetainedMessages {
  /** Stores, replaces or (empty payload) removes. False: a limit is reached and nothing was stored. */
  set(packet: AedesPacket): boolean;
  /** Stores a derived message whose payload is made once somebody looks at it. */
  setLater(topic: string, make: () => string): void;
  /**
   * Live records: a reader that is slow to send one sends its present payload, never one that a newer message on the
   * same topic has already overtaken. A removed record turns empty.
   */
  matching(filter: string): Iterable<AedesPacket>;
  /** The row to save, or undefined when there is none or it is derived. */
  row(topic: string): RetainedRow | undefined;
  readonly size: number;
  /** Bytes of those outside the root. */
  readonly bytes: number;
  clear(): void;
}

interface RetainedRecord {
  readonly packet: AedesPacket;
  readonly isDerived: boolean;
  bytes: number;
  /** Makes the payload when it is looked at. */
  make: (() => string) | undefined;
}

function recordOf({ payload, ...packet }: AedesPacket, isDerived: boolean): RetainedRecord {
  let kept = payload;
  const record: RetainedRecord = {
    packet: {
      ...packet,
      get payload() {
        if (record.make) {
          kept = record.make();
          record.make = undefined;
        }
        return kept;
      },
      set payload(given) {
        kept = given;
        record.make = undefined;
      },
    },
    isDerived,
    bytes: 0,
    make: undefined,
  };
  return record;
}

const nothing = Buffer.alloc(0);

/** An empty set of retained messages. `changed` is called for each topic whose saved row is no longer right. */
export function createRetained(options: {
  isDerived(topic: string): boolean;
  maxTopics: number;
  maxBytes: number;
  changed(topic: string): void;
}): RetainedMessages {
  const { isDerived, maxTopics, maxBytes, changed } = options;
  const records = new Map<string, RetainedRecord>();
  const tree = createLevelTree<RetainedRecord>();
  let topics = 0;
  let bytes = 0;

  const remove = (topic: string, record: RetainedRecord) => {
    records.delete(topic);
    tree.delete(topic);
    record.packet.payload = nothing;
    if (record.isDerived) return;
    topics--;
    bytes -= record.bytes;
    changed(topic);
  };

  const add = (packet: AedesPacket, derived: boolean): RetainedRecord => {
    const record = recordOf(packet, derived);
    records.set(packet.topic, record);
    tree.set(packet.topic, record);
    if (!derived) topics++;
    return record;
  };

  return {
    set(packet) {
      const { topic, payload } = packet;
      let record = records.get(topic);
      if (payload.length === 0) {
        if (record) remove(topic, record);
        return true;
      }
      const derived = record?.isDerived ?? isDerived(topic);
      if (derived) {
        record ??= add(packet, derived);
      } else {
        const size = topic.length + Buffer.byteLength(payload);
        const more = size - (record?.bytes ?? 0);
        if ((!record && topics >= maxTopics) || bytes + more > maxBytes) return false;
        record ??= add(packet, derived);
        record.bytes = size;
        bytes += more;
        changed(topic);
      }
      record.packet.payload = compact(payload);
      record.packet.qos = packet.qos;
      return true;
    },
    setLater(topic, make) {
      const record = records.get(topic) ?? add({ cmd: 'publish', topic, payload: '', qos: 0, retain: true }, true);
      record.make = make;
    },
    *matching(filter) {
      if (!filter.includes('+') && !filter.includes('#')) {
        const record = records.get(filter);
        if (record && record.packet.payload.length > 0) yield record.packet;
        return;
      }
      for (const record of tree.under(filter)) if (record.packet.payload.length > 0) yield record.packet;
    },
    row(topic) {
      const record = records.get(topic);
      if (!record || record.isDerived) return undefined;
      return { topic, payload: bytesOf(record.packet.payload), qos: record.packet.qos };
    },
    get size() {
      return records.size;
    },
    get bytes() {
      return bytes;
    },
    clear() {
      for (const [topic, record] of [...records]) remove(topic, record);
    },
  };
}
