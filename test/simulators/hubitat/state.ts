// What the simulated hub is, and what happens in it.
import { type SimDevice, simHouse } from './devices.ts';
import type { SimEvent } from './forms.ts';

/** A command that arrived; device 0 is the location. */
export interface SimReceived {
  readonly device: number;
  readonly command: string;
  readonly args: readonly unknown[];
  readonly way: 'maker' | 'runmethod';
}

/** Lasting oddities; all may be changed at any time. */
export interface SimQuirks {
  /** JSON is labelled text/html. */
  htmlLabel: boolean;
  /** Posts without `content` (firmware of 2026). */
  flatPosts: boolean;
  /** Posts labelled text/plain. */
  textPosts: boolean;
  /** Frames of the eventsocket come in two pieces. */
  splitFrames: boolean;
  /** Events of the location are not posted. */
  noLocationPosts: boolean;
  /** Older firmware: no `/devices/*`. */
  lacksDetailList: boolean;
  /** Other firmware: these of the hub's own pages are not there. */
  missingPages: RegExp | undefined;
  /** It answers with an archive that its list does not show. */
  losesBackups: boolean;
}

/** What the hub is and how it does. */
export interface SimSelf {
  name: string;
  version: string;
  memoryKb: number | string;
  temperatureC: number;
  databaseSize: number;
  uptime: string;
  alerts: Record<string, boolean | string | number>;
}

/** How the hub begins. */
export interface SimOptions {
  readonly devices?: readonly SimDevice[];
  readonly modes?: readonly string[] | null;
  readonly hsm?: string | null;
  readonly variables?: readonly { name: string; type: string; value: unknown }[] | null;
  /** What temperatures are in; told with events alone. */
  readonly scale?: 'C' | 'F';
  /** Told of each command as it arrives. */
  readonly onReceived?: (received: SimReceived) => void;
}

const BUTTONS = new Set(['pushed', 'held', 'doubleTapped', 'released']);

/** The hub's state; changes are told as events. */
export class SimState {
  readonly devices = new Map<number, SimDevice>();
  /** The Maker API knows nothing of these. */
  readonly unselected = new Set<number>();
  /** Rows of no known shape that stand in the list of devices. */
  readonly oddRows: unknown[] = [];
  readonly received: SimReceived[] = [];
  /** Newest first. */
  readonly history: SimEvent[] = [];
  readonly quirks: SimQuirks = {
    htmlLabel: false,
    flatPosts: false,
    textPosts: false,
    splitFrames: false,
    noLocationPosts: false,
    lacksDetailList: false,
    missingPages: undefined,
    losesBackups: false,
  };
  readonly self: SimSelf = {
    name: 'Simulated Hub',
    version: '2.5.1.181',
    memoryKb: 412_000,
    temperatureC: 48.5,
    databaseSize: 65,
    uptime: '12d 3h 4m',
    alerts: { hubLoadElevated: false, platformUpdateAvailable: true, platformUpdateVersion: '2.5.2.110' },
  };
  /** As `/hub2/localBackups` lists them. */
  readonly backups: Record<string, unknown>[] = [];
  /** As `/logs/past/json` tells them, oldest first. */
  readonly logLines: string[] = [];
  reboots = 0;
  modes: { active: boolean; id: number; name: string }[] | undefined;
  hsm: string | undefined;
  variables: { name: string; type: string; value: unknown }[] | undefined;
  postUrl: string | undefined;
  readonly scale: 'C' | 'F';
  private readonly emit: (event: SimEvent) => void;
  private readonly onReceived: (received: SimReceived) => void;

  constructor(options: SimOptions, emit: (event: SimEvent) => void) {
    const {
      modes = ['Day', 'Evening', 'Night', 'Away'],
      hsm = 'disarmed',
      variables = [
        { name: 'guests', type: 'integer', value: 0 },
        { name: 'greeting', type: 'string', value: 'hello' },
        { name: 'holiday', type: 'boolean', value: false },
      ],
      scale = 'C',
    } = options;
    this.emit = emit;
    this.onReceived = options.onReceived ?? (() => {});
    this.scale = scale;
    for (const device of options.devices ?? simHouse()) this.devices.set(device.id, device);
    this.modes = modes?.map((name, i) => ({ active: i === 0, id: i + 1, name }));
    this.hsm = hsm ?? undefined;
    this.variables = variables?.map(variable => ({ ...variable }));
  }

  /** A backup that was made then. */
  addBackup(at: number): void {
    const time = new Date(at).toISOString();
    this.backups.unshift({
      name: `${time.slice(0, 10)}~${this.self.version}~${this.backups.length}.lzf`,
      createTime: time.slice(0, 10),
      createTimeOrig: time.replace(/\.\d+Z$/, '+0000'),
      fileSize: 3 * 1024 * 1024,
      fullBackup: false,
    });
  }

  /** A line of the log as it is kept. */
  keepLog({
    name,
    msg,
    id,
    type,
    level,
  }: {
    name: string;
    msg: string;
    id: number;
    type: string;
    level: string;
  }): void {
    const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
    this.logLines.push(`${time}\t${level}\t${type}|${id}|${name}|${msg}`);
    if (this.logLines.length > 1_000) this.logLines.shift();
  }

  /** A row of the hub's own history. */
  readonly eventRow = ({ name, value, unit, device, type, description, at }: SimEvent) => ({
    id: at,
    name,
    value: value === null ? null : String(value),
    unit: unit ?? null,
    descriptionText: description ?? null,
    source: device ? 'DEVICE' : 'LOCATION',
    type: type ?? null,
    date: new Date(at ?? 0).toISOString().replace('Z', '+0000'),
    isStateChange: true,
    deviceId: device?.id ?? null,
    producedBy: device ? `<a href="/device/edit/${device.id}">${device.label}</a>` : '',
    triggered: '',
  });

  private tell(given: SimEvent): void {
    const event = { ...given, at: Date.now() };
    this.history.unshift(event);
    if (this.history.length > 200) this.history.pop();
    this.emit(event);
  }

  /** A command has arrived. */
  receive(received: SimReceived): void {
    this.onReceived(received);
    this.received.push(received);
  }

  device(id: number): SimDevice {
    const device = this.devices.get(id);
    if (!device) throw new Error(`the simulated hub has no device ${id}`);
    return device;
  }

  /** An attribute changes, at the device or by a command. @param quietly no event is sent */
  set(id: number, attribute: string, value: string | number | boolean | null, quietly = false): void {
    const device = this.device(id);
    for (const one of device.attributes) if (one.name === attribute) one.value = value;
    const unit = /^temperature$|Setpoint$/.test(attribute)
      ? `°${this.scale}`
      : device.attributes.find(one => one.name === attribute)?.unit;
    const event = { name: attribute, value, device, unit, description: `${device.label} ${attribute} is ${value}` };
    if (quietly) this.history.unshift({ ...event, at: Date.now() });
    else this.tell(event);
  }

  /** What a command makes of an attribute: the hub tells no event where nothing changes, but for buttons. */
  become(id: number, attribute: string, value: string | number): void {
    const known = this.device(id).attributes.find(({ name }) => name === attribute);
    if (!known || (known.value === value && !BUTTONS.has(attribute))) return;
    this.set(id, attribute, value);
  }

  /** A button is pressed. */
  press(id: number, button: number, how = 'pushed'): void {
    this.set(id, how, button);
  }

  setMode(name: string): void {
    for (const mode of this.modes ?? []) mode.active = mode.name === name;
    this.tell({ name: 'mode', value: name, type: 'LOCATION_MODE_CHANGE', description: `Home is now in ${name} mode` });
  }

  setHsm(status: string): void {
    this.hsm = status;
    this.tell({ name: 'hsmStatus', value: status, description: 'hsmEvent' });
  }

  /** @param bare the event has the variable's name alone */
  setVariable(name: string, value: unknown, bare = false): void {
    for (const variable of this.variables ?? []) if (variable.name === name) variable.value = value;
    this.tell({ name: bare ? name : `variable:${name}`, value });
  }

  /** Any other event of the location, an app, or a device that is not selected. */
  happen(event: SimEvent): void {
    this.tell(event);
  }
}
