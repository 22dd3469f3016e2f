/**
 * A cluster on this machine, for trying it: three NATS servers and three gateways. `npm run cluster`;
 * Ctrl-C and SIGTERM end it and remove what it stored.
 */
import { once } from 'node:events';

import { startGatewayProcess } from '../gateway-process.ts';
import { startNatsServers } from './nats-servers.ts';

console.log('Starting three NATS servers and three gateways …');
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await using servers = await startNatsServers(3);
await using gateways = new AsyncDisposableStack();
const args = ['--log', servers.url];
const started = await Promise.all([1, 2, 3].map(() => startGatewayProcess({ args })));
for (const gateway of started) gateways.use(gateway);

for (const { name, address, monitor, pid } of servers.servers)
  console.log(`NATS server ${name}  ${address}  monitoring: ${monitor}/varz  process: ${pid}`);
for (const { url, pid, data } of started)
  console.log(`gateway ${url}/  folder: ${data}  process: ${pid}`);
const [first, second] = started;
console.log(`
Say something at one gateway, and read it at another:
  curl -d '{"text":"here"}' ${first?.url}/api/shepit
  curl ${second?.url}/api/entries

End a server or a gateway by its process, and see what goes on. Ctrl-C ends all of them.`);
await interrupted;
