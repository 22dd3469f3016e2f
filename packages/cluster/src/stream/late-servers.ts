/** Checks servers that stored nothing at the start, once they do. */
import { setTimeout as sleep } from 'node:timers/promises';

import { checkServer, ClusterRefusal } from './check-servers.ts';

const INTERVAL_MS = 2000;

/** Until all are right. Calls back when what is wrong changes; what is found only once may be a server that starts. */
export async function checkLateServers(
  servers: readonly string[],
  count: number,
  onFault: (fault: ClusterRefusal | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  let [before, told] = ['', ''];
  for (let left = servers; left.length > 0 && !signal.aborted;) {
    const checks = await Promise.all(left.map((address) => checkServer(address, count)));
    const faults = checks.flatMap(({ stores, faults: of }) => (stores ? of : [])).join('\n');
    if (faults !== told && (faults === before || faults === '')) {
      told = faults;
      onFault(faults === '' ? undefined : new ClusterRefusal(faults));
    }
    before = faults;
    left = left.filter(
      (_, index) => checks[index]?.stores !== true || checks[index].faults.length > 0,
    );
    if (left.length > 0) await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
