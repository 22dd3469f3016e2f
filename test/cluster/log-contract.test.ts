// The store of a cluster orders entries as every store must, over a real server. It stores and reads
// them as the embedded one does. PRESENCE_WHOLE_CONTRACT tests all the rest of the contract, too.
import { after, before, suite } from 'node:test';

import type { Log } from '../../packages/gateway/src/log/log.ts';
import { openClusterLog } from '../../packages/gateway/src/cluster.ts';
import { dataFolder } from '../gateway-process.ts';
import { lastingContractOf, orderingContractOf } from '../log-contract/log.contract.ts';
import { needs } from '../needs.ts';
import { type NatsServers, startNatsServers } from './nats-servers.ts';

const isWhole = process.env['PRESENCE_WHOLE_CONTRACT'] !== undefined;
const contractOf = isWhole ? lastingContractOf : orderingContractOf;

suite('over a server', needs('nats-server'), () => {
  let cluster: NatsServers;
  let streams = 0;
  before(async () => {
    cluster = await startNatsServers(1);
  });
  after(() => cluster[Symbol.asyncDispose]());

  contractOf('the store of a cluster', async () => {
    await using opened = new AsyncDisposableStack();
    const folder = opened.use(await dataFolder());
    streams += 1;
    const options = { folder: folder.path, stream: `${cluster.url}/LOG${streams}` };
    let log: Log = await openClusterLog(options);
    opened.defer(() => log[Symbol.asyncDispose]());
    const rest = opened.move();
    return {
      log,
      another: async () => {
        const { path } = rest.use(await dataFolder());
        return rest.use(await openClusterLog({ ...options, folder: path }));
      },
      reopen: async () => {
        await log[Symbol.asyncDispose]();
        log = await openClusterLog(options);
        return log;
      },
      [Symbol.asyncDispose]: () => rest.disposeAsync(),
    };
  });
});
