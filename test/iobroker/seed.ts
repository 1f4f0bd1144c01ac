// What an ioBroker installation has before anybody adds a device: the objects that `iobroker setup` would make.
import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageJson } from './packages.ts';
import type { IobObject, IobState, IobValue } from './protocol.ts';

type Entry = readonly [id: string, object: IobObject];

interface IoPackage {
  readonly common: Readonly<Record<string, unknown>>;
  readonly native: Readonly<Record<string, unknown>>;
  readonly objects?: readonly (IobObject & { readonly _id: string })[];
  readonly instanceObjects?: readonly (IobObject & { readonly _id: string })[];
}

/** The host on which all adapters run. */
export const HOST = 'system.host.test';

/** A user that the ws adapter may ask for. */
export interface IobUser {
  readonly name: string;
  readonly password: string;
  /** `user` reads and writes states, and may not send messages to adapters; `administrator` may do all. */
  readonly group?: 'user' | 'administrator';
}

/** The system's objects: its views, groups, configuration and host. */
export function systemObjects(language: string): Entry[] {
  const { objects = [] } = packageJson<IoPackage>('iobroker.js-controller', 'io-package.json');
  const admin = { type: 'user', common: { name: 'admin', password: '', enabled: true, dontDelete: true } };
  const system = {
    type: 'config',
    // Without `diag` adapters would load what reports to ioBroker's makers.
    common: { language, tempUnit: '°C', latitude: 52.5, longitude: 13.4, diag: 'none', licenseConfirmed: true },
    native: { secret: '0123456789abcdef0123456789abcdef0123456789abcdef' },
  };
  return [
    ...objects.map((object): Entry => [object._id, object]),
    ['system.config', system],
    ['system.user.admin', admin],
    [
      HOST,
      { type: 'host', common: { name: 'test', hostname: 'test', installedVersion: '7.1.1', platform: 'Javascript' } },
    ],
  ];
}

/** An adapter with its instance 0, and what `iobroker add` would make for it. */
export function adapterObjects(name: string, native: Readonly<Record<string, unknown>>): Entry[] {
  const description = packageJson<IoPackage>(`iobroker.${name}`, 'io-package.json');
  return [
    [`system.adapter.${name}`, { type: 'adapter', common: description.common, native: description.native }],
    [
      `system.adapter.${name}.0`,
      {
        type: 'instance',
        common: { ...description.common, host: 'test', enabled: true },
        native: { ...description.native, ...native },
      },
    ],
    ...(description.objects ?? []).map((object): Entry => [object._id, object]),
    ...(description.instanceObjects ?? []).map((object): Entry => [`${name}.0.${object._id}`, object]),
  ];
}

/** A user, and the group with this user alone beside admin. */
export function userObjects({ name, password, group = 'user' }: IobUser): Entry[] {
  const { objects = [] } = packageJson<IoPackage>('iobroker.js-controller', 'io-package.json');
  const groupObject = objects.find(object => object._id === `system.group.${group}`) as IobObject;
  return [
    [`system.user.${name}`, { type: 'user', common: { name, password: hashed(password), enabled: true } }],
    [
      `system.group.${group}`,
      { ...groupObject, common: { ...groupObject.common, members: ['system.user.admin', `system.user.${name}`] } },
    ],
  ];
}

// The form in which js-controller keeps passwords.
function hashed(password: string): string {
  const salt = randomBytes(16).toString('hex');
  return `pbkdf2$10000$${pbkdf2Sync(password, salt, 10_000, 256, 'sha256').toString('hex')}$${salt}`;
}

/** A state's object, `type: mixed` unless told. */
export const stateObject = (common: Readonly<Record<string, unknown>> = {}): IobObject => ({
  type: 'state',
  common: { name: '', type: 'mixed', role: 'state', read: true, write: true, ...common },
});

/** Whether a state is a command: not confirmed by the adapter that owns it. */
export const isCommand = (state: IobState | null): state is IobState => state?.ack === false;

/** `system.adapter.hue.0`, of `hue.0.lamp.on`. */
export const ownerOf = (id: string): string => `system.adapter.${id.split('.').slice(0, 2).join('.')}`;

/** A state that is there from the start, confirmed by its owner. */
export interface InitialState {
  readonly id: string;
  /** Of its object; `type: mixed` unless told. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly value: IobValue;
}

/** Writes states into the files of databases that do not run yet: one JSON line for each key, after one with the version. */
export function writeDatabaseFiles(dir: string, states: Iterable<InitialState>): void {
  const lines = {
    objects: [line('**META**', { 'objects.protocolVersion': '4' })],
    states: [line('**META**', { 'states.protocolVersion': '4' })],
  };
  const now = Date.now();
  for (const { id, common, value } of states) {
    lines.objects.push(line(id, { _id: id, native: {}, ...stateObject(common) }));
    lines.states.push(
      line(id, { val: value, ack: true, ts: now, lc: now, q: 0, from: ownerOf(id) } satisfies IobState),
    );
  }
  writeFileSync(join(dir, 'objects.jsonl'), lines.objects.join(''));
  writeFileSync(join(dir, 'states.jsonl'), lines.states.join(''));
}

const line = (key: string, value: object): string => `${JSON.stringify({ k: key, v: value })}\n`;
