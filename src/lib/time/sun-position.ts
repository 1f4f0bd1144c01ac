// Where the sun stands. Elevation is geometric, of the sun's centre: what an almanac calls -0.833° at sunrise.
import { getPosition } from 'suncalc';

/** A place on earth, in degrees, north and east positive, and the zone of its clocks. */
export interface Place {
  latitude: number;
  longitude: number;
  zone: string;
}

/** Degrees: `elevation` geometric, `azimuth` clockwise from north; `up` while the upper limb can be seen. */
export interface SunPosition {
  elevation: number;
  azimuth: number;
  up: boolean;
}

/** The geometric elevation at sunrise and sunset: mean refraction at the horizon and the sun's radius. */
export const HORIZON = -0.833;

const DEGREE = Math.PI / 180;

/** The position of the sun at an instant (epoch ms). */
export function sunPosition(ms: number, { latitude, longitude }: Place): SunPosition {
  const { altitude, azimuth } = getPosition(new Date(ms), latitude, longitude);
  const elevation = geometric(altitude);
  return { elevation, azimuth, up: elevation > HORIZON };
}

/** True if the sun's elevation is above `degrees`. Cheaper than the position, and of the same opinion. */
export const isAbove = (degrees: number, ms: number, { latitude, longitude }: Place): boolean =>
  getPosition(new Date(ms), latitude, longitude).altitude > apparent(degrees);

/** The azimuth alone, degrees clockwise from north. */
export const sunAzimuth = (ms: number, { latitude, longitude }: Place): number =>
  getPosition(new Date(ms), latitude, longitude).azimuth;

/** What suncalc 2 reports for a geometric elevation: it adds refraction (Meeus 16.4), below the horizon a constant. */
function apparent(elevation: number): number {
  const h = Math.max(elevation, 0) * DEGREE;
  return elevation + 0.0002967 / Math.tan(h + 0.00312536 / (h + 0.08901179)) / DEGREE;
}

function geometric(altitude: number): number {
  let elevation = altitude - apparent(0);
  // Refraction changes by at most 0.15° a degree, so each round gains nearly a decimal; 14 reach the last bit.
  if (elevation > 0) for (let round = 0; round < 14; round++) elevation -= apparent(elevation) - altitude;
  return elevation;
}
