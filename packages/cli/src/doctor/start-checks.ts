/** What would keep a gateway from starting, beside its folder's permissions and the machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';

import { checkCluster, checkLog, type ListenAddress } from '@open-presence/gateway';

import type { Configuration } from '../configuration.ts';
import { fault, type Finding, ok, reasonOf, warning } from './finding.ts';

/** No gateway may be running on the folder. */
export function checkLogFolder({ data, log, acceptClock }: Configuration): Finding {
  try {
    checkLog(data, { isCopy: log !== undefined, acceptClock });
    return ok('log', 'a gateway can use what the folder has');
  } catch (error) {
    return fault('log', reasonOf(error), 'No gateway starts with it: do what the refusal says.');
  }
}

export async function checkServers(log: string | undefined): Promise<readonly Finding[]> {
  if (log === undefined) return [];
  const check = 'NATS servers';
  const mend = 'Start them, or correct --log. See docs/cluster.md.';
  try {
    const idle = await checkCluster(log);
    if (idle.length === 0) return [ok(check, 'they answer, and store what they acknowledge')];
    return [warning(check, `down, or with JetStream off: ${idle.join(', ')}`, mend)];
  } catch (error) {
    return [fault(check, reasonOf(error), mend)];
  }
}

/** Listens for a moment where no gateway runs. */
export async function checkListening(address: ListenAddress): Promise<readonly Finding[]> {
  if (!('port' in address)) return [];
  const { host, port } = address;
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return [];
  } catch (error) {
    const mend = 'End the other program, or choose another address with --port or --host.';
    return [fault('listening', `a gateway could not: ${reasonOf(error)}`, mend)];
  } finally {
    server.close();
  }
}
