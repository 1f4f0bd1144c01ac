// The hub's answers and events in their wire form, quirks included (Maker API, eventsocket).
import type { SimAttribute, SimDevice } from './devices.ts';

/** An event of the hub. */
export interface SimEvent {
  readonly name: string;
  readonly value: unknown;
  /** Undefined: of the location. */
  readonly device?: SimDevice | undefined;
  readonly unit?: string | undefined;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly source?: string | undefined;
  /** When it happened, epoch ms; the hub's own history alone tells. */
  readonly at?: number | undefined;
}

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** `/devices` */
export const shortForm = ({ id, label, driver, room }: SimDevice) => ({
  id: String(id),
  name: driver,
  label,
  type: driver,
  ...(room !== undefined && { room }),
});

/** `/devices/all`: a map of texts, into which the last attribute's data type leaks. */
export function allForm(device: SimDevice) {
  const last = device.attributes.at(-1);
  return {
    ...shortForm(device),
    date: '2026-03-03T14:20:00+0000',
    model: null,
    manufacturer: null,
    room: device.room ?? null,
    capabilities: device.capabilities,
    attributes: {
      dataType: last?.dataType ?? null,
      values: last?.values ?? null,
      ...Object.fromEntries(device.attributes.map(({ name, value }) => [name, text(value)])),
    },
    commands: device.commands.map(({ name }) => ({ command: name })),
  };
}

const attributeForm = ({ name, value, dataType, values, unit }: SimAttribute) => ({
  name,
  currentValue: value,
  dataType,
  ...(values && { values }),
  // Only some drivers tell it here.
  ...(unit !== undefined && name !== 'temperature' && { unit }),
});

/** `/devices/<id>` and `/devices/*`: names of capabilities alternate with objects that repeat an attribute. */
export const detailForm = (device: SimDevice) => ({
  ...shortForm(device),
  attributes: device.attributes.map(attributeForm),
  capabilities: device.capabilities.flatMap((name, i) => {
    const attribute = device.attributes[i];
    return attribute ? [name, { attributes: [{ name: attribute.name, dataType: null }] }] : [name];
  }),
  commands: device.commands.map(({ name }) => name),
});

/** `/devices/<id>/commands` */
export const commandsForm = ({ commands }: SimDevice) =>
  commands.map(({ name, types }) => ({ command: name, ...(types && { type: types }) }));

const fields = ({ name, value, device, unit, type, description }: SimEvent) => ({
  name,
  value: text(value),
  displayName: device?.label ?? 'Home',
  deviceId: device ? String(device.id) : null,
  descriptionText: description ?? null,
  unit: unit ?? null,
  type: type ?? null,
  data: null,
});

/** What the Maker API posts; without `content` around it on firmware of 2026. */
export const postForm = (event: SimEvent, isFlat: boolean) => (isFlat ? fields(event) : { content: fields(event) });

/** A frame of the eventsocket: numbers for ids, the word null for what is absent. */
export const frameForm = (event: SimEvent) => ({
  source: event.source ?? (event.device ? 'DEVICE' : 'LOCATION'),
  name: event.name,
  displayName: event.device?.label ?? 'Home',
  value: text(event.value) ?? 'null',
  type: event.type ?? 'null',
  unit: event.unit ?? 'null',
  deviceId: event.device?.id ?? 0,
  hubId: 0,
  installedAppId: 0,
  descriptionText: event.description ?? 'null',
});
