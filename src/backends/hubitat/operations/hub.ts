// The hub itself: what it is, how it does, and its restart.
import { z } from 'zod';
import { hasCode } from '../../../lib/errors.ts';
import type { HubitatBackend } from '../index.ts';
import { destructive, gather, known, read } from './row.ts';

const word = z.union([z.string(), z.number()]).transform(String);
const Identity = { name: word, model: word, version: word, ipAddress: word };
const Details = { hubName: word, hardwareVersion: word, platformVersion: word, timeZone: word, tempScale: word };
const Alerts = { alerts: z.record(z.string(), z.json()), safeMode: z.boolean() };

/** Below or above these the hub's own users are advised to do something (kingpanther13/Hubitat-local-MCP-server). */
const LITTLE_MEMORY_KB = 50_000;
const HOT_C = 70;

const getInfo = read({
  name: 'get_hubitat_info',
  title: 'What a Hubitat hub is',
  description:
    'Name, model, firmware, time zone and temperature scale of a Hubitat hub, and whether an update of its firmware waits.',
  input: {},
  output: { missing: z.record(z.string(), z.string()) },
  path: 'info',
  async run(hub, _input, { signal }) {
    const { got, missing } = await gather({
      hub: hub.pages.json('/hub2/hubData', { signal }),
      details: hub.pages.json('/hub/details/json', { signal }),
    });
    const { name, model, version, ipAddress } = known(Identity, got.hub);
    const details = known(Details, got.details);
    const { alerts } = known(Alerts, got.hub);
    return {
      name: details.hubName ?? name ?? null,
      model: details.hardwareVersion ?? model ?? null,
      firmware: details.platformVersion ?? version ?? null,
      address: ipAddress ?? null,
      time_zone: details.timeZone ?? null,
      temperature_scale: details.tempScale ?? null,
      ...(typeof alerts?.platformUpdateAvailable === 'boolean' && {
        update: alerts.platformUpdateAvailable ? (alerts.platformUpdateVersion ?? true) : false,
      }),
      missing,
    };
  },
});

/** A page that is one number as text. */
const measure = async (hub: HubitatBackend, page: string, signal: AbortSignal): Promise<number | null> => {
  const value = Number.parseFloat(await hub.pages.text(`/hub/advanced/${page}`, { signal }));
  return Number.isFinite(value) ? value : null;
};

const getHealth = read({
  name: 'get_hubitat_health',
  title: 'How a Hubitat hub does',
  description:
    'Free memory (kB), temperature (°C) and database size (as the hub counts it) of a Hubitat hub, its own alerts, and what to look at. ' +
    'With uptime: true also how long it runs, from a page that is slow on a large hub.',
  input: { uptime: z.boolean().optional().describe('Ask for the uptime as well') },
  output: { warnings: z.array(z.string()), missing: z.record(z.string(), z.string()) },
  path: 'health',
  async run(hub, { uptime }, { signal }) {
    const { got, missing } = await gather({
      memory: measure(hub, 'freeOSMemory', signal),
      temperature: measure(hub, 'internalTempCelsius', signal),
      database: measure(hub, 'databaseSize', signal),
      hub: hub.pages.json('/hub2/hubData', { signal }),
      ...(uptime && { uptime: hub.pages.json('/logs/json', { signal, timeoutMs: 30_000 }) }),
    });
    const { alerts = {}, safeMode } = known(Alerts, got.hub);
    const active = Object.keys(alerts)
      .filter(name => alerts[name] === true && !name.startsWith('platformUpdate'))
      .sort();
    const memory = got.memory ?? null;
    const temperature = got.temperature ?? null;
    return {
      free_memory_kb: memory,
      temperature_c: temperature,
      database_size: got.database ?? null,
      ...(uptime && { uptime: known({ uptime: z.json() }, got.uptime).uptime ?? null }),
      safe_mode: safeMode ?? null,
      alerts: active,
      warnings: [
        ...(memory !== null && memory < LITTLE_MEMORY_KB ? ['little memory is free: restart the hub'] : []),
        ...(temperature !== null && temperature > HOT_C ? ['the hub is hot: give it air'] : []),
        ...active.map(name => `the hub itself warns: ${name}`),
      ],
      missing,
    };
  },
});

const reboot = destructive({
  name: 'reboot_hubitat_hub',
  title: 'Restart a Hubitat hub',
  description:
    'Restarts a Hubitat hub. For some minutes none of its devices can be reached, and its own rules stand still.',
  input: {},
  output: { rebooting: z.boolean() },
  path: 'reboot',
  async run(hub, _input, { dryRun, signal }) {
    if (dryRun) return { rebooting: false, dry_run: true };
    try {
      await hub.pages.text('/hub/reboot', { signal, body: {}, isOnce: true });
      return { rebooting: true };
    } catch (error) {
      // It may be gone before it has answered.
      if (!hasCode(error, 'BACKEND_TIMEOUT')) throw error;
      return { rebooting: true, note: 'the hub broke off without an answer, as it may when it goes down' };
    }
  },
});

/** What a hub is and how it does. */
export const hubRows = [getInfo, getHealth, reboot];
