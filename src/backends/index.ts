// The table of backend types that config.yaml may name. A kind is one folder and one line.
import type { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { defineTable, type Kind } from '../lib/registry.ts';
import { HubitatBackend, HubitatSchema } from './hubitat/index.ts';
import { hubitatOperations } from './hubitat/operations/index.ts';
import { IobrokerBackend, IobrokerSchema, iobrokerOperations, iobrokerResources } from './iobroker/index.ts';
import type { BackendOperation, BackendResource } from './operation.ts';
import type { Supervised } from './supervisor.ts';
import { UnifiBackend, UnifiSchema } from './unifi/index.ts';
import { unifiOperations } from './unifi/operations/index.ts';
import { unifiResources } from './unifi/resources.ts';

/** What every backend gets. */
export interface BackendParts {
  /** Its id in config.yaml, the first part of its devices' ids. */
  readonly id: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The gateway listens on loopback only: what pushes from elsewhere cannot reach it. */
  readonly isLoopbackOnly: boolean;
}

/** A type of backend. */
export interface BackendKind extends Kind {
  /** What only this type can do. */
  readonly operations: readonly BackendOperation[];
  /** What only this type has to look at. */
  readonly resources?: readonly BackendResource[];
  create(config: object, parts: BackendParts): Supervised;
}

/** Types a kind of backend by its schema. */
const defineBackend = <S extends z.ZodObject>(kind: {
  type: string;
  schema: S;
  operations: readonly BackendOperation[];
  resources?: readonly BackendResource[];
  create(config: z.output<S>, parts: BackendParts): Supervised;
}): BackendKind => kind as unknown as BackendKind;

/** All that are built, beside `virtual` and `house`, which are always there. */
export const backendKinds = defineTable<BackendKind>('backend', [
  defineBackend({
    type: 'hubitat',
    schema: HubitatSchema,
    operations: hubitatOperations,
    create: (config, parts) => new HubitatBackend(config, parts),
  }),
  defineBackend({
    type: 'iobroker',
    schema: IobrokerSchema,
    operations: iobrokerOperations,
    resources: iobrokerResources,
    create: (config, parts) => new IobrokerBackend(config, parts),
  }),
  defineBackend({
    type: 'unifi',
    schema: UnifiSchema,
    operations: unifiOperations,
    resources: unifiResources,
    create: (config, parts) => new UnifiBackend(config, parts),
  }),
]);

/** Their schemas, for the configuration and its docs. */
export const backendSchemas = backendKinds.kinds.map(kind => kind.schema);
