// The demo house, for whoever shows it: what it is, its past, and its life on the virtual backend.
export type { DemoEvent } from './days.ts';
export { DEMO_HOUSE_YAML } from './furnishing.ts';
export { type DemoHouse, type DemoValues, demoHouse } from './house.ts';
export { furnish, runDemo } from './live.ts';
export { pastEvents } from './past.ts';
