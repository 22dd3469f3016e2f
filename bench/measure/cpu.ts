/** CPU time of a process and its children in seconds, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in /proc (USER_HZ). */
const TICKS_PER_SECOND = 100;

export function cpuOf(pid: number): number {
  const own = cpuIn(`/proc/${pid}`);
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own);
}

/** CPU time of those threads of a process that have one of these names, in seconds. */
export function cpuOfThreads(pid: number, names: ReadonlySet<string>): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  return threads
    .filter((path) => names.has(readFileSync(`${path}/comm`, 'latin1').trimEnd()))
    .reduce((sum, path) => sum + cpuIn(path), 0);
}

/** `path`: of a process or a thread. */
function cpuIn(path: string): number {
  const stat = readFileSync(`${path}/stat`, 'latin1');
  // The second field, the name in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    (readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').match(/\d+/g) ?? []).map(Number),
  );
}
