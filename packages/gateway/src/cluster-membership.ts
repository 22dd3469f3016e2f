/** A data folder becomes the first copy of a cluster's log, or a log of its own again. Part of the composition root. */
import type { AdoptedLog, LeftLog } from './stores/jetstream/cluster-folder.ts';

export type { AdoptedLog, LeftLog };

/** See `adoptFolder` in `stores/jetstream/cluster-folder.ts`. `log`: the stream, as in `GatewayConfig`. */
export async function adoptIntoCluster(data: string, log: string): Promise<AdoptedLog> {
  // What speaks with NATS is loaded only where it is used.
  const { adoptFolder } = await import('./stores/jetstream/cluster-folder.ts');
  return await adoptFolder(data, log);
}

/** See `leaveCluster` in `stores/jetstream/cluster-folder.ts`. */
export async function leaveCluster(data: string, log: string | undefined): Promise<LeftLog> {
  const { leaveCluster: leave } = await import('./stores/jetstream/cluster-folder.ts');
  return await leave(data, log);
}
