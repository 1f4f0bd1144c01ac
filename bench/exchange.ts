// The two exchanges that product and leanest gateway are compared by, as topics and payloads: a message of the outside
// that a rule answers with another, and a button of a device that a rule answers with a command.

/** One exchange: the message that goes in for rule number `i`, and where its answer comes out. */
export interface Exchange {
  readonly inPrefix: string;
  readonly inPayload: string;
  readonly outPrefix: string;
  readonly outPayload: (i: number) => object;
  /** What of the payload decides. */
  readonly field: string;
  readonly value: string | number;
}

/** As zigbee2mqtt tells a button, and is told to switch a lamp. */
export const message: Exchange = {
  inPrefix: 'zigbee/button-',
  inPayload: JSON.stringify({
    action: 'single',
    battery: 97,
    linkquality: 120,
    voltage: 2985,
    update: { state: 'idle', installed_version: 587_765_297, latest_version: 587_765_297 },
    last_seen: '2026-11-30T08:12:45.123Z',
  }),
  outPrefix: 'zigbee-out/lamp-',
  outPayload: () => ({ state: 'ON', brightness: 200, transition: 1 }),
  field: 'action',
  value: 'single',
};

/** A button of a device is pushed, a lamp is commanded. */
export const device: Exchange = {
  inPrefix: 'door/button-',
  inPayload: JSON.stringify({ attribute: 'pushed', value: 1 }),
  outPrefix: 'causeway/command/virtual/lamp-',
  outPayload: i => ({ id: '01JDXA8F3V0000000000000000', device: `virtual:lamp-${i}`, command: 'on', args: {} }),
  field: 'value',
  value: 1,
};
