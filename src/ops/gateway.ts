// What operations work on: the parts of the running gateway, each behind the narrowest type that serves.
import type { Observable } from 'rxjs';
import type { Supervised } from '../backends/supervisor.ts';
import type { Authority } from '../engine/core.ts';
import type { Engine } from '../engine/engine.ts';
import type { Author, Rulebook } from '../engine/rules/rulebook.ts';
import type { Clock } from '../lib/clock.ts';
import type { Backend } from '../model/command.ts';
import type { Device } from '../model/device.ts';
import type { Event } from '../model/event.ts';
import type { Json } from '../model/value.ts';
import type { Principals } from '../policy/principals.ts';
import { type Role, scopesOf } from '../policy/roles.ts';
import type { Journal } from '../store/journal-port.ts';
import type { Store } from '../store/store.ts';
import type { SimulationOutcome, SimulationRequest } from '../world/simulate-worker.ts';
import type { Caller } from './op.ts';

/** Virtual devices, made by people and clients. */
export interface VirtualDevices {
  /** Resolves once it is stored, as the others do. `name` becomes its id. @throws EXISTS, INPUT_INVALID, VALUE_INVALID */
  createDevice(spec: {
    name: string;
    label?: string | undefined;
    room?: string | undefined;
    capabilities?: readonly string[] | undefined;
    attributes?: Record<string, unknown> | undefined;
    values?: Record<string, unknown> | undefined;
  }): Promise<Device>;
  /** @throws DEVICE_NOT_FOUND */
  renameDevice(id: string, label: string): Promise<Device>;
  /** @throws DEVICE_NOT_FOUND */
  deleteDevice(id: string): Promise<void>;
  /** A report by the device. @throws DEVICE_NOT_FOUND, VALUE_INVALID */
  setValue(id: string, attribute: string, value: Json): void;
}

/** The gateway as operations see it. */
export interface Gateway {
  readonly version: string;
  readonly clock: Clock;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly isDemo: boolean;
  readonly engine: Engine;
  readonly rulebook: Rulebook;
  readonly store: Store;
  readonly journal: Journal;
  readonly principals: Principals;
  readonly backends: ReadonlyMap<string, Backend>;
  /** The bridged systems themselves, for the operations that only their type has. */
  readonly systems: ReadonlyMap<string, Supervised>;
  readonly virtual: VirtualDevices;
  readonly addresses: { http?: string; mqtt?: string };
  /** The newest events, oldest first, bounded. */
  readonly recent: {
    readonly events$: Observable<Event>;
    list(): readonly Event[];
    next(matches: (event: Event) => boolean, timeoutMs: number, signal: AbortSignal): Promise<Event | undefined>;
  };
  /** Stores the traces that wait, so that each run which has ended is found. */
  storeTraces(): Promise<void>;
  /** Runs a scenario, or the tests of a rule, in a world of its own. */
  simulate(request: SimulationRequest): Promise<SimulationOutcome[]>;
}

/** What a caller's rules may do. */
export const authorityOf = (caller: Caller): Authority => ({
  name: caller.principal,
  devices: caller.scopes.has('devices:control'),
  house: caller.scopes.has('house:write'),
  rules: caller.scopes.has('rules:write'),
});

/** Who saves a rule. */
export const authorOf = (caller: Caller): Author => ({
  name: caller.principal,
  via: caller.via,
  authority: authorityOf(caller),
});

/** What rules may do that come from elsewhere, in a role of the configuration. */
export const authorityOfRole = (name: string, role: Role): Authority =>
  authorityOf({ principal: name, scopes: scopesOf(role), via: 'system', by: 'system' });
