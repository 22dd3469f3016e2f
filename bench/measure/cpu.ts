/** CPU time of a process and its children in seconds, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in /proc (USER_HZ). */
const TICKS_PER_SECOND = 100;

export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field, the name in parentheses, may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own);
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.flatMap((task) =>
    (readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').match(/\d+/g) ?? []).map(Number),
  );
}
