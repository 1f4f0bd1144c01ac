// Every file of test/scenarios holds: the engine itself, on a virtual clock.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulateFiles } from '../src/world/run.ts';

const folder = join(import.meta.dirname, 'scenarios');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.yaml'));

describe('a scenario file holds', () => {
  it.each(files.sort())('%s', async file => {
    const { scenarios } = await simulateFiles([join(folder, file)]);
    expect(scenarios.length).toBeGreaterThan(0);
    expect(scenarios.flatMap(scenario => scenario.failures)).toEqual([]);
  });
});
