/**
 * Power cuts of three machines at once, under load: whatever no disk had flushed is lost. By hand, with
 * a built LazyFS: `LAZYFS=PROGRAM npm exec -c 'node test/cluster/faults/power-cuts.ts CUTS'`.
 *
 * With `--default-sync` the servers flush when they like, and tell gateways that they flush at once: it
 * fails, which shows that a loss would be seen.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

import {
  type DataFolder,
  dataFolder,
  freePort,
  startGatewayProcess,
} from '../../gateway-process.ts';
import { loopbackPlace, startNatsServers } from '../nats-servers.ts';
import { type LazyDisk, mountLazyDisk } from './lazy-disk.ts';
import { Load } from './load.ts';

const MACHINES = 3;
/** Acknowledged entries before each cut. */
const ENTRIES = 100;
/** Of the servers' monitoring, where another one answers in its place. */
const HIDDEN_PORT = 8322;

const program = process.env['LAZYFS'];
assert.ok(program, 'LAZYFS names no program');
const cuts = Number(process.argv[2] ?? 1);
const flushesAtOnce = process.argv[3] !== '--default-sync';

await using stack = new AsyncDisposableStack();
const disks: LazyDisk[] = [];
const mount = async (): Promise<LazyDisk> => {
  const folder: DataFolder = stack.use(await dataFolder());
  const disk = stack.use(await mountLazyDisk(program, folder.path));
  disks.push(disk);
  return disk;
};

const places = [];
for (let at = 0; at < MACHINES; at += 1) places.push(loopbackPlace((await mount()).path));
if (!flushesAtOnce)
  for (const { host } of places) {
    const monitor = await flatter(host);
    stack.defer(() => void monitor.close());
  }
const nats = stack.use(
  await startNatsServers(MACHINES, {
    places,
    // LazyFS does not say how much room there is.
    jetStream: 'max_file_store: 10G',
    ...(flushesAtOnce ? {} : { syncInterval: '2m', config: `http: ":${HIDDEN_PORT}"` }),
  }),
);
const seats: { readonly data: string; readonly port: number }[] = [];
for (let at = 0; at < MACHINES; at += 1)
  seats.push({ data: (await mount()).path, port: await freePort() });
const startAll = async (): Promise<Awaited<ReturnType<typeof startGatewayProcess>>[]> =>
  await Promise.all(
    seats.map(({ data, port }) =>
      startGatewayProcess({
        data,
        args: ['--port', String(port), '--threads', '1', '--log', nats.url],
      }),
    ),
  );
const gateways = await startAll();
stack.defer(async () => {
  for (const gateway of gateways) await gateway.kill();
});
const load = new Load({ gateways });
try {
  for (let cut = 1; cut <= cuts; cut += 1) {
    await load.untilMore(ENTRIES);
    await Promise.all([...nats.servers, ...gateways].map((running) => running.kill()));
    await Promise.all(disks.map((disk) => disk.losePower()));
    for (const server of nats.servers) server.start();
    await Promise.all(nats.servers.map((server) => server.healthy()));
    gateways.splice(0, MACHINES, ...(await startAll()));
    console.log(`cut ${cut} of ${cuts}: ${load.acknowledged.size} acknowledged`);
  }
  await load.untilMore(ENTRIES);
  const { entries, unanswered } = await load.check();
  console.log(`${entries} entries on every copy once, links equal; ${unanswered} unanswered`);
} catch (error) {
  for (const gateway of gateways) console.error(gateway.output());
  throw error;
} finally {
  load.stop();
}

/** Answers in place of a server's monitoring, and says that the server flushes at once. */
async function flatter(host: string): Promise<Server> {
  const server = createServer((request, response) => {
    void (async () => {
      try {
        const answer = await fetch(`http://${host}:${HIDDEN_PORT}${request.url ?? ''}`);
        const text = await answer.text();
        response.writeHead(answer.status);
        response.end(text.replace('"config": {', '"config": {"sync_always": true,'));
      } catch {
        response.destroy();
      }
    })();
  }).listen(8222, host);
  await once(server, 'listening');
  return server;
}
