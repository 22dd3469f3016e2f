/**
 * `node test/proxies/run.ts caddy|nginx|haproxy`: the conformance suite through a proxy, with TLS and
 * HTTP/2. Further arguments are options of Node.js, such as `--test-name-pattern=…`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { PROXIES, type ProxyName, startProxy } from './proxy.ts';

const SUITE = join(import.meta.dirname, '../../conformance/main.ts');

/** What a proxy answers itself, or does not let through: see "Behind a proxy" in docs/operating.md. */
const EXCEPTED: Readonly<Record<ProxyName, readonly string[]>> = {
  caddy: ['11:malformed-http', '1.3:transfer-encoding'],
  nginx: ['11:malformed-http', '1.3:transfer-encoding', '7.8:many-lines', '1.1:never-turned-away'],
  haproxy: [
    '11:malformed-http',
    '1.3:transfer-encoding',
    '7.4:long-key',
    '1.10:one-host',
    '1.2:long-url',
    '1.2:long-header',
    '1.2:long-path',
  ],
};

const [wanted, ...options] = process.argv.slice(2);
const name = PROXIES.find((one) => one === wanted);
if (name === undefined) throw new Error(`Usage: run.ts ${PROXIES.join('|')}`);
const port = await freePort();
await using folder = await dataFolder();
await using gateway = await startGatewayProcess({
  args: ['--public-url', `https://localhost:${port}`],
});
await using proxy = await startProxy({
  name,
  port,
  gateway: new URL(gateway.url).host,
  folder: folder.path,
});
const suite = spawn(
  process.execPath,
  [...options, SUITE, proxy.url, ...EXCEPTED[name].flatMap((each) => ['--except', each])],
  { stdio: 'inherit', env: { ...process.env, NODE_EXTRA_CA_CERTS: proxy.certificate } },
);
await once(suite, 'exit');
process.exitCode = suite.exitCode ?? 1;
