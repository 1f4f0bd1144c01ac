// Who may come in at all: sockets are counted by address before they have said a word, clients when they log in.
import type { Limits } from './limits.ts';

/** One socket's place. */
export interface Place {
  /** The client has logged in. False: there are too many, altogether or from its address. */
  admit(): boolean;
  leave(): void;
}

/** Counts sockets and clients. */
export interface Door {
  /** Undefined: too many sockets that have not logged in. */
  enter(address: string): Place | undefined;
  readonly sockets: number;
  readonly clients: number;
}

interface AddressCount {
  pending: number;
  clients: number;
}

/** True for 127.0.0.0/8 and ::1, also in their IPv4-mapped form. */
export const isLoopback = (address: string): boolean => address === '::1' || /^(::ffff:)?127\./.test(address);

/** A door that nobody has come through. */
export function createDoor(limits: Limits): Door {
  const addresses = new Map<string, AddressCount>();
  const total: AddressCount = { pending: 0, clients: 0 };

  return {
    enter(address) {
      const isExempt = limits.exemptLoopback && isLoopback(address);
      const here = addresses.get(address) ?? { pending: 0, clients: 0 };
      if (total.pending >= limits.clients || (!isExempt && here.pending >= limits.pendingPerAddress)) return undefined;
      addresses.set(address, here);
      const counts = [here, total];
      const move = (key: keyof AddressCount, by: number) => {
        for (const count of counts) count[key] += by;
      };
      let stage: keyof AddressCount | undefined = 'pending';
      move('pending', 1);
      return {
        admit() {
          if (stage !== 'pending') return false;
          if (total.clients >= limits.clients || (!isExempt && here.clients >= limits.clientsPerAddress)) return false;
          move('pending', -1);
          move('clients', 1);
          stage = 'clients';
          return true;
        },
        leave() {
          if (stage) move(stage, -1);
          stage = undefined;
          if (here.pending + here.clients === 0) addresses.delete(address);
        },
      };
    },
    get sockets() {
      return total.pending + total.clients;
    },
    get clients() {
      return total.clients;
    },
  };
}
