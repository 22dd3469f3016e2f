/**
 * The store of a cluster: a JetStream stream puts drafts in order, and each gateway applies them to a
 * replica of its own, which it reads like any log. Upholds that an append is acknowledged only after a
 * majority of the servers has flushed it and this gateway's folder has it, and that all folders have the
 * same entries with the same links.
 *
 * `stream/message.ts` documents what is in the stream. This package knows only the gateway's port,
 * `@open-presence/gateway/replica`.
 */
import type { Cluster } from '@open-presence/gateway/replica';

import { follow } from './follow.ts';
import { gateways } from './gateways.ts';
import { adopt, begin, requireAll } from './membership.ts';
import { checkServers } from './stream/check-servers.ts';
import { connectOnce } from './stream/stream.ts';

export const cluster: Cluster = {
  begin,
  follow,
  adopt,
  requireAll,
  gateways,
  async check(address) {
    const idle = await checkServers(address.servers);
    const connection = await connectOnce(address);
    await connection.close();
    return idle;
  },
};
