// The CPU time of a process with all its threads: it moves far less than the wall does on a machine that others use.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

// USER_HZ, which Linux fixes at 100 for all that it tells (proc(5)).
const MS_PER_TICK = 10;
const IDLE_STEP_MS = 120;
const IDLE_STEPS = 20;

/** Milliseconds of CPU that a process has used until now, user and system. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold blanks; what follows it does not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Resolves once a process has nothing more to do: what it wrote behind is part of what an event costs. */
export async function quiet(pid: number): Promise<void> {
  let before = cpuMs(pid);
  let still = 0;
  for (let step = 0; step < IDLE_STEPS && still < 2; step++) {
    await pause(IDLE_STEP_MS);
    const now = cpuMs(pid);
    still = now - before <= MS_PER_TICK ? still + 1 : 0;
    before = now;
  }
}

/** Milliseconds of CPU that `work` makes a process use, with what it does behind. */
export async function cpuOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(pid);
  await work();
  await quiet(pid);
  return cpuMs(pid) - before;
}
