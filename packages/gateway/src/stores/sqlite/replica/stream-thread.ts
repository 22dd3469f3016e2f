/**
 * The thread of a cluster's stream, between those that serve visitors and the writer's: what they append
 * and withhold goes to the stream, and what the stream has to the writer.
 */
import { type MessagePort, workerData } from 'node:worker_threads';

import { loadCluster } from '../../../load-cluster.ts';
import type { ToWriter } from '../../../log/packed-drafts.ts';
import type { ReplicaStart } from '../../../log/replica.ts';
import type { CatchUpRequest, CatchUpResponse } from '../log/catch-up.ts';
import type { WithholdRequest, WithholdResponse } from '../log/withhold-client.ts';
import { StoreThread } from '../store-thread.ts';
import { SqliteReplica } from './sqlite-replica.ts';

export interface StreamThreadStart {
  readonly start: ReplicaStart;
  readonly writer: MessagePort;
}

type FromClient = ToWriter | WithholdRequest | CatchUpRequest;

const { start, writer } = (workerData as { readonly extra: StreamThreadStart }).extra;
const thread = new StoreThread();
const cluster = await loadCluster();
const orderer = await cluster.follow(new SqliteReplica(thread, writer), start);
void orderer.ended.then(() => {
  writer.close();
  thread.close();
});
thread.serve((client) => {
  client.on('message', (message: FromClient) => void receive(client, message));
});

async function receive(client: MessagePort, message: FromClient): Promise<void> {
  if ('uploadFault' in message) {
    writer.postMessage(message);
  } else if ('drafts' in message) {
    orderer.append(client, message);
  } else if ('catchUp' in message) {
    const isKnown = await orderer.catchUp();
    client.postMessage({ caughtUp: message.catchUp, isKnown } satisfies CatchUpResponse);
  } else {
    const { withholding, items } = message;
    const result = await orderer.withhold(items);
    client.postMessage({ withholding, result } satisfies WithholdResponse);
  }
}
