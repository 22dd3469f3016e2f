/**
 * `node test/proxies/endurance.ts caddy|nginx|haproxy`: a body of 2 GiB, and a silent stream, through a
 * proxy with its shipped file, in which hours and days are 20 seconds. Takes some minutes.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { PROXIES, startProxy } from './proxy.ts';

const VISIT = join(import.meta.dirname, 'endurance.fixture.ts');
/** Longer than the proxy's times, which the gateway's comments reset every 15 seconds. */
const SILENT_SECONDS = '45';

const name = PROXIES.find((one) => one === process.argv[2]);
if (name === undefined) throw new Error(`Usage: endurance.ts ${PROXIES.join('|')}`);
const port = await freePort();
await using folder = await dataFolder();
await using gateway = await startGatewayProcess({
  args: ['--public-url', `https://localhost:${port}`],
});
await using proxy = await startProxy({
  name,
  port,
  gateway: gateway.url,
  folder: folder.path,
  replace: [[/\b1[hd]\b/g, '20s']],
});
const env = { ...process.env, NODE_EXTRA_CA_CERTS: proxy.certificate };
const { stdout } = await promisify(execFile)(process.execPath, [VISIT, proxy.url, SILENT_SECONDS], {
  env,
});
process.stdout.write(stdout);
for (const [process_, pid] of [
  ['the gateway', gateway.pid],
  ['the proxy', proxy.pid],
] as const) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  console.log(`${process_} took at most${/VmHWM:\s*(.*)/.exec(status)?.[1]?.padStart(12) ?? ''}`);
}
