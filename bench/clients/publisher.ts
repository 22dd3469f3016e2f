/**
 * A bare publisher to a JetStream stream with the settings that gateways ask for: `node publisher.ts
 * HOST:PORT,… IN_FLIGHT SECONDS BYTES`. Prints as JSON how many messages were acknowledged a second.
 */
import { DiscardPolicy, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const STREAM = 'BARE';

const [servers = '', inFlight = '1', seconds = '1', size = '260'] = process.argv.slice(2);
const connection = await connect({ servers: servers.split(',') });
const manager = await jetstreamManager(connection);
await manager.streams.add({
  name: STREAM,
  subjects: [`${STREAM}.>`],
  storage: StorageType.File,
  num_replicas: servers.split(',').length,
  discard: DiscardPolicy.New,
});
const client = jetstream(connection);
const message = Buffer.alloc(Number(size), 'x');
const started = performance.now();
const until = started + Number(seconds) * 1000;
let published = 0;
await Promise.all(
  Array.from({ length: Number(inFlight) }, async () => {
    for (; performance.now() < until; published += 1)
      await client.publish(`${STREAM}.log`, message);
  }),
);
const perSecond = published / ((performance.now() - started) / 1000);
await connection.close();
console.log(JSON.stringify({ perSecond }));
