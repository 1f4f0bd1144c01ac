// Who may do what: roles as bundles of scopes, and as topic filters of MQTT.

/** What a caller needs to be allowed. */
export const SCOPES = ['read', 'rules:write', 'devices:control', 'house:write', 'admin'] as const;
/** A name of `SCOPES`. */
export type Scope = (typeof SCOPES)[number];

/** From the least to the most. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
/** A name of `ROLES`. */
export type Role = (typeof ROLES)[number];

const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  operator: ['read', 'rules:write', 'devices:control', 'house:write'],
  admin: SCOPES,
};

/** Who a caller is, once that is known. */
export interface Principal {
  readonly name: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<Scope>;
  /** What let him in, in words of `Principals.isCurrent`; absent where nothing was asked. */
  readonly credential?: string;
}

/** The scopes of a role, less those that a list leaves out. A list never adds one. */
export const scopesOf = (role: Role, narrowedTo?: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(ROLE_SCOPES[role].filter(scope => narrowedTo?.includes(scope) ?? true));

/** Name of the caller on a gateway without principals, over loopback. */
export const LOCAL = 'local';
/** Name of the caller with CAUSEWAY_ADMIN_TOKEN. */
export const ENVIRONMENT = 'environment';

/** A principal with all scopes. */
export const admin = (name: string): Principal => ({ name, role: 'admin', scopes: scopesOf('admin') });

/** Topic filters of MQTT; what none of them allows is denied. */
export interface MqttAcl {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * What a principal may publish to and subscribe to. Everybody may read. A first level `#` means the topics outside `root` (a
 * rule may listen to zigbee2mqtt, and publish there): under the root only the filters that name it count.
 */
export function mqttAcl({ scopes }: Pick<Principal, 'scopes'>, root: string): MqttAcl {
  const inputs: [Scope, string[]][] = [
    ['devices:control', ['device/+/+/set', 'device/+/+/set/+', 'device/+/+/command/+']],
    ['rules:write', ['rule/+/set', 'rule/+/run']],
    ['house:write', ['mode/set', 'variable/+/set']],
    ['admin', ['bridge/request/#']],
  ];
  const filters = inputs.flatMap(([scope, topics]) =>
    scopes.has(scope) ? topics.map(topic => `${root}/${topic}`) : [],
  );
  return {
    publish: scopes.has('devices:control') ? ['#', ...filters] : filters,
    subscribe: scopes.has('read') ? ['#', `${root}/#`] : [],
  };
}
