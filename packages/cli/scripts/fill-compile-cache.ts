/**
 * Fills Node's compile cache for `npm ci`: runs a gateway in this process, sends the requests that load
 * further modules, stops it, and loads the other commands. Makes the cache readable for all users,
 * whoever installs.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { unusedContext } from './unused-context.ts';

interface Request extends RequestInit {
  readonly path: string;
  readonly accept?: string;
}

const REQUESTS: readonly Request[] = [
  { path: '/', accept: 'text/html' },
  { path: '/speak', accept: 'text/html' },
  { path: '/llms.txt' },
  { path: '/api/garden', method: 'POST', body: '{}' },
  { path: '/mcp', method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' },
];

// The command stores compiled code here only if the folder exists.
mkdirSync(join(import.meta.dirname, '../../../node_modules/.cache/presence'), { recursive: true });
const port = await freePort();
const data = mkdtempSync(join(tmpdir(), 'presence-'));
const args = ['--port', String(port), '--data', data, '--threads', '2', '--log-level', 'silent'];
process.argv.push('serve', ...args);
const ended: Promise<unknown> = import(import.meta.resolve('../presence.js'));
await Promise.race([ended, requestAll(`http://127.0.0.1:${port}`)]);
process.emit('SIGTERM', 'SIGTERM');
await ended;
rmSync(data, { recursive: true });
const { createProgram } = await import('../src/program.ts');
await createProgram(unusedContext(), '');
flushCompileCache();
const folder = getCompileCacheDir();
if (folder !== undefined) readableByAll(folder);

async function requestAll(url: string): Promise<void> {
  while (!(await isReady(url))) await sleep(20);
  for (const { path, accept = 'application/json', ...init } of REQUESTS) {
    const headers = { accept, 'content-type': 'application/json' };
    await (await fetch(url + path, { ...init, headers })).arrayBuffer();
  }
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** Node makes compiled code readable for its own user only. */
function readableByAll(path: string): void {
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) chmodSync(join(path, name), 0o644);
}
