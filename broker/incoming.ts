// QoS 2 messages that clients have begun to send and not yet released, so that a repetition is not published twice.
import type { AedesPacket } from './aedes.ts';

/** Open messages by client and message id. */
export interface Incoming {
  /** False: the client has too much open. */
  add(client: string, packet: AedesPacket): boolean;
  get(client: string, messageId: number): AedesPacket | undefined;
  delete(client: string, messageId: number): boolean;
  clear(client: string): void;
}

const PACKET_OVERHEAD = 100;
const sizeOf = ({ topic, payload }: AedesPacket) => PACKET_OVERHEAD + topic.length + payload.length;

/** None open; at most `maxBytes` of one client. */
export function createIncoming(maxBytes: number): Incoming {
  const clients = new Map<string, { bytes: number; packets: Map<number, AedesPacket> }>();
  return {
    add(client, packet) {
      const open = clients.get(client) ?? { bytes: 0, packets: new Map() };
      if (open.bytes + sizeOf(packet) > maxBytes) return false;
      open.bytes += sizeOf(packet);
      const { cmd, topic, payload, qos, retain, dup, messageId } = packet;
      open.packets.set(messageId!, { cmd, topic, payload, qos, retain, dup, messageId });
      clients.set(client, open);
      return true;
    },
    get: (client, messageId) => clients.get(client)?.packets.get(messageId),
    delete(client, messageId) {
      const open = clients.get(client);
      const packet = open?.packets.get(messageId);
      if (!open || !packet) return false;
      open.packets.delete(messageId);
      open.bytes -= sizeOf(packet);
      if (open.packets.size === 0) clients.delete(client);
      return true;
    },
    clear(client) {
      clients.delete(client);
    },
  };
}
