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

const NO_HTTP = {
  '11:malformed-http': 'the proxy answers in its own form what is no HTTP',
  '1.3:transfer-encoding': 'the proxy refuses compressed transfer encodings',
  '1.11:half-closed': 'the proxy takes a caller who has ended its half of the connection for gone',
};

/** What each proxy bounds, and how: see "Behind a proxy" in docs/operating.md. */
const BOUNDS: Readonly<Record<ProxyName, Readonly<Record<string, string>>>> = {
  caddy: {
    ...NO_HTTP,
    '11:odd-paths': 'Caddy resets an HTTP/2 request whose path has a broken percent-encoding',
  },
  nginx: {
    ...NO_HTTP,
    '11:odd-paths': 'nginx answers 400 to broken percent-encodings and paths above the root',
  },
  haproxy: {
    ...NO_HTTP,
    '7.4:long-key': 'a header takes at most 1,048,575 bytes in HAProxy',
    '1.2:long-header': 'a header takes at most 1,048,575 bytes in HAProxy',
    '1.2:long-url': 'a path takes at most 1,048,575 bytes in HAProxy',
    '1.2:long-path': 'a path takes at most 1,048,575 bytes in HAProxy',
    '1.10:one-host': 'HAProxy passes two equal Host on as one',
  },
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
  gateway: gateway.url,
  folder: folder.path,
  replace: name === 'nginx' ? [[/# max_headers/, 'max_headers']] : [],
});
const exceptions = Object.entries(BOUNDS[name]).flatMap(([requirement, reason]) => [
  '--except',
  `${requirement}=${reason}`,
]);
const suite = spawn(process.execPath, [...options, SUITE, proxy.url, ...exceptions], {
  stdio: 'inherit',
  env: { ...process.env, NODE_EXTRA_CA_CERTS: proxy.certificate },
});
await once(suite, 'exit');
process.exitCode = suite.exitCode ?? 1;
