// What keeps a gateway from starting: each ends the process with one clear error that says what to do, and harms nothing.
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { gatewayKit } from '../kit/gateway-process.ts';

const kit = gatewayKit();
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await kit.end();
});

const REFUSED = 4;

/** Somebody else's port. */
async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

describe('a start is refused', () => {
  it('for a wrong key in config.yaml: with line, path, and the nearest right name', async () => {
    const home = kit.home();
    home.write('config.yaml', 'http:\n  port: 0\nmqtt:\n  prot: 1883\njournal:\n  days: many\n');
    const exit = await kit.run(home, ['serve']);
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(/^CONFIG_INVALID/);
    expect(exit.stderr).toMatch(/config\.yaml:4.*prot/);
    expect(exit.stderr).toMatch(/did you mean.*port/i);
    expect(exit.stderr).toMatch(/config\.yaml:6.*days/);
    expect(existsSync(home.data)).toBe(false);
  });

  it('for a wrong variable in the environment', async () => {
    const exit = await kit.run(kit.home(), ['serve'], { CAUSEWAY_MQTT__PROT: '1' });
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(/CAUSEWAY_MQTT__PROT.*CAUSEWAY_MQTT__PORT/s);
  });

  it('for a taken HTTP port: says who listens and what to do', async () => {
    const port = await takenPort();
    const exit = await kit.run(kit.home({ config: { http: { port } } }), ['serve']);
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(new RegExp(`PORT_IN_USE: http/port: .*${port}`));
    expect(exit.stderr).toMatch(/stop that process|http\.port/);
  });

  it('for a taken MQTT port, and leaves the folder free for the next start', async () => {
    const port = await takenPort();
    const home = kit.home({ config: { mqtt: { port } } });
    const exit = await kit.run(home, ['serve']);
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(new RegExp(`PORT_IN_USE: mqtt/port: .*${port}`));
    expect(exit.stderr).toMatch(/mqtt\.port.*mqtt\.mode: external/s);
    await kit.start(home, { env: { CAUSEWAY_MQTT__PORT: '0' } });
  }, 40_000);

  it('for a data folder that another gateway uses: says which process, and where it listens', async () => {
    const home = kit.home();
    const first = await kit.start(home);
    const exit = await kit.run(home, ['serve']);
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(/^ALREADY_RUNNING/);
    expect(exit.stderr).toContain(`process ${first.pid}`);
    expect(exit.stderr).toContain(first.url);
    expect(exit.stderr).toContain(first.mqttUrl);
    // The first one does not notice.
    expect(await first.call('get_system')).toMatchObject({ ready: true });
    expect(JSON.parse(readFileSync(join(home.data, 'gateway.json'), 'utf8')).pid).toBe(first.pid);
  }, 40_000);

  it('for a data folder that cannot be written', async () => {
    const home = kit.home();
    home.write('file', 'in the way');
    const exit = await kit.run(home, ['serve'], { CAUSEWAY_DATA__DIR: join(home.dir, 'file', 'data') });
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(/^DATA_UNWRITABLE: .*file\/data/);
    expect(exit.stderr).toMatch(/may write/);
  });

  it('for a database of a newer version, which stays as it is', async () => {
    const home = kit.home();
    const first = await kit.start(home);
    await first.stop();
    const path = join(home.data, 'causeway.db');
    const db = new Sqlite(path);
    db.pragma('user_version = 99');
    db.close();
    const before = { bytes: readFileSync(path), at: statSync(path).mtimeMs };
    const exit = await kit.run(home, ['serve']);
    expect(exit.code).toBe(REFUSED);
    expect(exit.stderr).toMatch(/^DATABASE_NEWER: .*version 99/);
    expect(exit.stderr).toMatch(/newer Causeway|backup/);
    expect(readFileSync(path).equals(before.bytes)).toBe(true);
    expect(statSync(path).mtimeMs).toBe(before.at);
  }, 40_000);
});

describe('a backup', () => {
  it('of a folder without data is refused, not written empty', async () => {
    const { code, stderr } = await kit.run(kit.home(), ['backup']);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^NOT_FOUND: .*there is no data in .*nothing was written/),
    ]);
  });
});

describe('the demo', () => {
  it('takes free ports where its own are taken', async () => {
    const [http, mqtt] = [await takenPort(), await takenPort()];
    const home = kit.home();
    const gateway = await kit.start(home, {
      args: ['demo'],
      env: { CAUSEWAY_HTTP__PORT: String(http), CAUSEWAY_MQTT__PORT: String(mqtt) },
    });
    expect(gateway.url).not.toContain(`:${http}`);
    expect(gateway.mqttUrl).not.toContain(`:${mqtt}`);
    expect(await gateway.call('get_system')).toMatchObject({ demo: true, ready: true });
    await eventually(() => gateway.stderr().includes(gateway.url), 'the banner');
    expect(gateway.stderr()).toMatch(/House +11 rules, \d\d devices/);
  }, 40_000);
});
