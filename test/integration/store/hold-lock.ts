// A process that takes the lock of a data folder, says so, and holds it until it is killed.
import { lockDataDir } from '../../../src/store/lock.ts';

const lock = lockDataDir(process.argv[2] ?? '', { startedAt: 1_000, addresses: [] });
lock.tell(['http://127.0.0.1:8480', 'mqtt://127.0.0.1:1883']);
process.stdout.write('held\n');
process.stdin.resume();
