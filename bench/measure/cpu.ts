/** CPU time of a process and its children, also those that have ended, in seconds, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in /proc (USER_HZ). */
const TICKS_PER_SECOND = 100;

export function cpuOf(pid: number): number {
  const own = cpuIn(`/proc/${pid}`, 4);
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own);
}

/** CPU time of those threads of a process that have one of these names, in seconds. */
export function cpuOfThreads(pid: number, names: ReadonlySet<string>): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  return threads
    .filter((path) => names.has(readFileSync(`${path}/comm`, 'latin1').trimEnd()))
    .reduce((sum, path) => sum + cpuIn(path, 2), 0);
}

/**
 * `path`: of a process or a thread. `times`: 2 for its own user and system time, 4 to add those of
 * its children that have ended.
 */
function cpuIn(path: string, times: 2 | 4): number {
  const stat = readFileSync(`${path}/stat`, 'latin1');
  // The second field, the name in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 11 + times).map(Number);
  return ticks.reduce((sum, time) => sum + time, 0) / TICKS_PER_SECOND;
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    (readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').match(/\d+/g) ?? []).map(Number),
  );
}
