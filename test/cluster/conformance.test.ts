// The conformance suite, where all is said at one gateway of a cluster and read at another.
import { after, before, suite } from 'node:test';

import { conformance } from '../../conformance/suite.ts';
import { keepFilesInMemory } from '../gateway-process.ts';
import { becomes, startCluster } from './members.ts';
import { needs } from '../needs.ts';

keepFilesInMemory();

suite('two gateways of a cluster', needs('nats-server'), () => {
  const owned = new AsyncDisposableStack();
  const urls: string[] = [];
  before(async () => {
    const cluster = owned.use(await startCluster(1));
    for (const index of [0, 1]) {
      const gateway = await cluster.start(index);
      await becomes(gateway, 'breathing');
      urls.push(gateway.url);
    }
  });
  after(() => owned.disposeAsync());
  conformance(
    'conform as one',
    () => urls[0] ?? '',
    new Map(),
    () => urls[1] ?? '',
  );
});
