// What the command line does without a running gateway: serve, check, simulate, backup, restore.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startApp } from './app.ts';
import { checkWorkdays } from './backends/house/workdays.ts';
import { backendSchemas } from './backends/index.ts';
import { DEMO_HOUSE_YAML } from './backends/virtual/demo/index.ts';
import type { VirtualBackend } from './backends/virtual/index.ts';
import type { CheckReport, CliParts, ServeOptions } from './cli/parts.ts';
import { adminToken } from './config/environment.ts';
import { DEFAULT_MODES, houseSchema } from './config/house.ts';
import { configDir, type LoadedConfig, loadConfig, loadFile } from './config/load.ts';
import { checkRule } from './engine/analysis/check.ts';
import { readRuleFile, readRuleFiles } from './engine/rules/files.ts';
import { systemClock } from './lib/clock.ts';
import { asCausewayError, CausewayError } from './lib/errors.ts';
import { createLog } from './lib/log.ts';
import type { Problem } from './lib/problems.ts';
import { Target } from './model/target.ts';
import { Devices } from './state/devices.ts';
import { House } from './state/house.ts';
import { createBackup, restoreBackup } from './store/backup.ts';
import { banner } from './wiring/banner.ts';
import { demoHome, furnishDemo } from './wiring/demo.ts';
import { type SimulatedSystem, startSimulated } from './wiring/simulators.ts';
import { simulateFiles } from './world/run.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/dist\/$/, '');
const HouseFile = houseSchema(Target);

/** The version of package.json. */
const VERSION: string = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

const environment = () => process.env;

function configuration(file: string | undefined): LoadedConfig {
  return loadConfig({
    file,
    dir: configDir(environment(), process.cwd()),
    environment: environment(),
    backends: backendSchemas,
  });
}

function houseOf({ dir, secrets }: Pick<LoadedConfig, 'dir' | 'secrets'>) {
  const path = join(dir, 'house.yaml');
  if (!existsSync(path)) return HouseFile.parse({});
  const house = loadFile(path, HouseFile, { environment: environment(), secrets });
  checkWorkdays(house.workdays);
  return house;
}

/** The parts for the command line. */
export function cliParts(): CliParts {
  return {
    version: VERSION,
    bin: join(ROOT, 'bin/causeway.mjs'),
    serve,
    check,
    simulate(files, options) {
      const loaded = configuration(options.config);
      const { latitude, longitude, timezone = 'Europe/Berlin' } = loaded.config.location;
      const isPlaced = latitude !== undefined && longitude !== undefined;
      return simulateFiles(files, {
        // Tests of rules use the names of the house; without one those of the demo.
        house: loaded.file === undefined ? DEMO_HOUSE_YAML : plain(houseOf(loaded)),
        ...(isPlaced && { location: { latitude, longitude, timezone } }),
      });
    },
    backup: async ({ config: file, to }) => {
      const { config, dir } = configuration(file);
      if (!existsSync(join(config.data.dir, 'causeway.db'))) {
        throw new CausewayError('NOT_FOUND', `there is no data in ${config.data.dir}: nothing was written`, {
          hint: 'call it where config.yaml is, or with --config; the demo house has nothing of yours',
        });
      }
      const now = systemClock.now();
      const into = resolve(to ?? join(config.data.dir, 'backups'));
      mkdirSync(into, { recursive: true });
      const sources = sourcesOf(config.data.dir, config.rules.dir, dir).filter(({ path }) => existsSync(path));
      const { path, manifest } = await createBackup({ into, sources, at: now, version: VERSION });
      return { file: path, bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
    restore: async ({ config: file, from, force }) => {
      const { config, dir } = configuration(file);
      if (!force && existsSync(join(config.data.dir, 'causeway.db'))) {
        throw new CausewayError('CONFIRM_REQUIRED', `${config.data.dir} holds data already`, {
          hint: 'add --yes: what is there is kept beside it as ….before-restore-<date>',
        });
      }
      const restored = await restoreBackup({
        from: resolve(from),
        targets: sourcesOf(config.data.dir, config.rules.dir, dir),
        at: systemClock.now(),
        dataDir: config.data.dir,
      });
      return { restored: [...restored.names, ...restored.kept.map(path => `what was there before: ${path}`)] };
    },
  };
}

function sourcesOf(data: string, rules: string, home: string): { name: string; path: string }[] {
  return [
    { name: 'causeway.db', path: join(data, 'causeway.db') },
    { name: 'broker.db', path: join(data, 'broker.db') },
    { name: 'journal', path: join(data, 'journal') },
    { name: 'rules', path: rules },
    ...['config.yaml', 'house.yaml', 'safety.yaml'].map(name => ({ name, path: join(home, name) })),
  ];
}

/** Without secrets and schemas: as a scenario may hold it. */
const plain = (house: object): unknown => JSON.parse(JSON.stringify(house));

async function serve(options: ServeOptions): Promise<void> {
  const simulated = await Promise.all((options.simulated ?? []).map(startSimulated));
  try {
    await serveWith(simulated, options);
  } finally {
    for (const system of simulated) await system.stop();
  }
}

async function serveWith(simulated: readonly SimulatedSystem[], options: ServeOptions): Promise<void> {
  const loaded = configuration(options.config);
  const isDemo = options.demo === true || loaded.file === undefined;
  const { config } = loaded;
  const log = createLog({ level: config.log.level, areas: config.log.areas, destination: options.log });
  for (const warning of loaded.warnings) log.warn({}, warning);
  const examples = join(ROOT, 'rules/examples');
  const demo = isDemo ? demoHome({ config, clock: systemClock, examples, simulated }) : undefined;
  let virtual: VirtualBackend | undefined;
  const app = await startApp({
    version: VERSION,
    config: demo?.config ?? config,
    house: demo ? HouseFile.parse(demo.house) : houseOf(loaded),
    clock: systemClock,
    log,
    adminToken: adminToken(environment())?.reveal(),
    isDemo,
    mayMove: isDemo,
    ...(environment().CAUSEWAY_CONTAINER === '1' && {
      onFirstToken: (token: string) =>
        process.stderr.write(`\n  The token of the user admin, shown this once: ${token}\n\n`),
    }),
    ...(demo && {
      prepare: async parts => {
        await furnishDemo(demo, parts, systemClock);
        virtual = parts.virtual;
      },
    }),
  });
  const endPlay = virtual && demo?.play(virtual);
  // The backends that are here already have told their devices by then.
  await app.gateway.engine.do(() => {});
  if (options.log === 'stdout') process.stderr.write(banner(app.gateway, { isDemo, simulated }));
  options.onReady?.(app.addresses.http);
  await new Promise<void>(resolveStop => {
    if (options.signal.aborted) return resolveStop();
    options.signal.addEventListener('abort', () => resolveStop(), { once: true });
  });
  endPlay?.();
  await app.stop();
}

async function check({
  config: file,
  rules,
}: {
  readonly config?: string;
  readonly rules?: readonly string[];
}): Promise<CheckReport> {
  const problems: CheckReport['problems'][number][] = [];
  const files: string[] = [];
  const told = (error: unknown, source: string) => {
    const known = asCausewayError(error);
    const listed = (known.details as { problems?: Problem[] } | undefined)?.problems;
    problems.push(
      ...(listed ?? [{ source, path: known.path ?? '', message: known.message, hint: known.hint }]).map(problem => ({
        ...problem,
        severity: 'error' as const,
      })),
    );
  };
  const devices = new Devices();
  const house = new House();
  let rulesDir: string | undefined;
  let place: { latitude: number; longitude: number } | undefined;
  try {
    const loaded = configuration(file);
    if (loaded.file !== undefined) files.push(loaded.file);
    rulesDir = loaded.config.rules.dir;
    const { latitude, longitude } = loaded.config.location;
    if (latitude !== undefined && longitude !== undefined) place = { latitude, longitude };
    problems.push(
      ...loaded.warnings.map(message => ({ source: 'config.yaml', path: '', message, severity: 'warning' as const })),
    );
    if (existsSync(join(loaded.dir, 'house.yaml'))) files.push(join(loaded.dir, 'house.yaml'));
    const read = houseOf(loaded);
    devices.setNames({ aliases: read.aliases, rooms: read.rooms });
    house.declare((read.modes ?? DEFAULT_MODES).names, read.variables as never, 0);
  } catch (error) {
    told(error, file ?? 'config.yaml');
    if (files.length === 0) files.push(file ?? 'config.yaml');
  }
  const read = rules
    ? rules.map(path => readRuleFile(resolve(path, '..'), basename(path)))
    : rulesDir !== undefined && existsSync(rulesDir)
      ? readRuleFiles(rulesDir)
      : [];
  const all = read.flatMap(one => (one.rule ? [one.rule] : []));
  for (const one of read) {
    files.push(one.file);
    for (const { message, line, column, path, hint } of one.faults)
      problems.push({ source: one.file, line, column, path, message, hint, severity: 'error' });
    if (!one.rule) continue;
    // Without backends no device is known: what only they can tell is not held against a rule here.
    for (const finding of checkRule(one.rule, { devices, house, rules: all, place })) {
      if (finding.code === 'unknown_device') continue;
      problems.push({
        source: one.file,
        path: finding.path,
        message: finding.message,
        hint: finding.hint,
        severity: finding.severity,
      });
    }
  }
  return { ok: !problems.some(problem => problem.severity === 'error'), files, problems };
}
