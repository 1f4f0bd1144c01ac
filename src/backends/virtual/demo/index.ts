// The demo house, for whoever shows it: what it is, its past, and its life on the virtual backend.
export { DEMO_HOUSE_YAML } from './furnishing.ts';
export { type DemoHouse, demoHouse } from './house.ts';
export { furnish, runDemo } from './live.ts';
export { pastEvents } from './past.ts';
