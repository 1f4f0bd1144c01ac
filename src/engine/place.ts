// Where the house stands: as config.yaml says, else as a backend tells. What was told is kept: the sun must not wait for a
// hub after a power cut.
import { z } from 'zod';
import type { Json } from '../model/value.ts';
import type { Core } from './core.ts';

/** Degrees, north and east positive. */
const Place = z
  .object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })
  // Systems that were never told where they are say so.
  .refine(({ latitude, longitude }) => latitude !== 0 || longitude !== 0);

const Told = Place.and(z.object({ by: z.string() }));

/** A place that a backend told. */
export type ToldPlace = z.infer<typeof Told>;

const ROW = 'place';
/** Ten metres or so: less moves no sunset. */
const NEAR_DEGREES = 1e-4;

/** What was told in an earlier life, if the backend is still one of ours. */
export function rememberedPlace(
  meta: ReadonlyMap<string, Json>,
  isOurs: (backend: string) => boolean,
): ToldPlace | undefined {
  const { data } = Told.safeParse(meta.get(ROW));
  return data && isOurs(data.by) ? data : undefined;
}

/** Takes over where a backend says that it is. True when schedules have to be reckoned anew. */
export function takePlace(core: Core, by: string, told: { latitude: number; longitude: number }): boolean {
  const { surroundings } = core;
  const { data } = Place.safeParse(told);
  // config.yaml has the last word, and of several systems the first one.
  if (!data || (surroundings.place && surroundings.placeBy !== by)) return false;
  const { latitude, longitude } = data;
  const { place } = surroundings;
  const isNear = (a: number, b: number) => Math.abs(a - b) < NEAR_DEGREES;
  if (place && isNear(place.latitude, latitude) && isNear(place.longitude, longitude)) return false;
  surroundings.place = { latitude, longitude };
  surroundings.placeBy = by;
  core.tx.put('meta', ROW, { latitude, longitude, by });
  core.log.info({ backend: by, latitude, longitude }, 'the house stands where this backend says');
  return true;
}
