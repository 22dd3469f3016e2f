/** The thread of a cluster's stream: publishes what visitors say, and has the writer apply what the stream has. */
import { type MessagePort, workerData } from 'node:worker_threads';

import { loadCluster } from '../../load-cluster.ts';
import type { ToWriter } from '../../log/packed-drafts.ts';
import type { ReplicaStart } from '../../log/replica.ts';
import { answerCall, type ThreadCall } from '../../thread-call.ts';
import type { AppendThreadCalls } from '../writer/writer-calls.ts';
import { StoreThread } from '../store-thread.ts';
import { SqliteReplica } from './sqlite-replica.ts';

export interface StreamThreadStart {
  readonly start: ReplicaStart;
  readonly writer: MessagePort;
}

type FromClient = ToWriter | ThreadCall<AppendThreadCalls>;

const { start, writer } = (workerData as { readonly extra: StreamThreadStart }).extra;
const thread = new StoreThread();
const cluster = await loadCluster();
const orderer = await cluster.follow(new SqliteReplica(thread, writer), start);
void orderer.ended.then(() => {
  writer.close();
  thread.close();
});
const calls: AppendThreadCalls = {
  withhold: (items) => orderer.withhold(items),
  catchUp: () => orderer.catchUp(),
  setReadOnly: (reason) => orderer.setReadOnly(reason),
};
thread.serve((client) => {
  client.on('message', (message: FromClient) => {
    if ('call' in message) void answerCall(client, message, calls);
    else if ('drafts' in message) orderer.append(client, message);
    else writer.postMessage(message);
  });
});
