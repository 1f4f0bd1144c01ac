// Operations on rooms: those of house.yaml, and those that systems have for their devices.
import { z } from 'zod';
import type { Gateway } from './gateway.ts';
import { defineOp } from './op.ts';

const listRooms = defineOp({
  name: 'list_rooms',
  title: 'List rooms',
  description:
    'The rooms with their devices: one out of the names that the systems have for it (house.yaml), else as a system calls it. Narrow list_devices by one of them for values.',
  input: z.strictObject({}),
  output: z.looseObject({
    rooms: z.array(z.looseObject({ room: z.string(), devices: z.array(z.string()) })),
    without: z.number(),
  }),
  effect: 'read',
  scope: 'read',
  route: ['GET', '/rooms'],
  listed: false,
  async run(gateway: Gateway) {
    const { devices } = gateway.engine.core;
    const rooms = new Map<string, string[]>();
    let without = 0;
    for (const device of devices.all()) {
      const room = devices.roomOf(device);
      if (room === undefined) without++;
      else rooms.set(room, [...(rooms.get(room) ?? []), device.id]);
    }
    const named = [...rooms].map(([room, ids]) => ({ room, count: ids.length, devices: ids.sort() }));
    return { rooms: named.sort((a, b) => (a.room < b.room ? -1 : 1)), without };
  },
});

/** Operations on rooms. */
export const roomOps = [listRooms];
