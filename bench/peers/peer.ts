/** The peers beside which the gateway is measured, each in its own process on loopback. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { startProcess, type Child } from '../processes/child-process.ts';
import { freePort } from '../../test/gateway-process.ts';
import { sendRequest } from '../clients/http.ts';
import type { WrkOptions } from '../clients/wrk.ts';
import { NCHAN, pathOf } from '../processes/external-tools.ts';

const ECHO = fileURLToPath(import.meta.resolve('./echo.ts'));

/** For a peer to do what it begins with, such as filling a table. */
const START_TIMEOUT_MS = 120_000;

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** A peer that stores entries. */
export interface EntryStore extends AsyncDisposable {
  /** Its processes; those that they start count with them. */
  readonly pids: readonly number[];
  /** A request that stores its body. */
  readonly append: Pick<WrkOptions, 'url' | 'sendBy'>;
  /** How many entries it has. */
  length(): Promise<number>;
}

/** One that also answers with the newest 50 entries. */
export interface ListedStore extends EntryStore {
  readonly newestUrl: string;
}

/** A bare `node:http` server that parses JSON and returns it. */
export async function startEcho(bench: BenchContext): Promise<Peer> {
  const port = await freePort();
  const child = await startProcess(bench, [process.execPath, ECHO, String(port)], 'inherit');
  return waitUntilReady(bench, child, { url: `http://127.0.0.1:${port}`, body: '{}' });
}

/**
 * nginx with one worker, serving the files of a folder, which also holds its state: compressed where
 * there is a `.gz` beside them.
 */
export function startNginx(bench: BenchContext, folder: string): Promise<Peer> {
  return startNginxWith(bench, folder, { modules: '', locations: 'gzip_static on;' });
}

/** The same with nchan: what is posted to `/post` is sent to the readers of `/events`. */
export function startNchan(bench: BenchContext, folder: string): Promise<Peer> {
  return startNginxWith(bench, folder, {
    modules: `load_module ${NCHAN};`,
    locations: `location = /post {
      nchan_publisher;
      nchan_channel_id garden;
      nchan_message_buffer_length 10000;
    }
    location = /events {
      nchan_subscriber eventsource;
      nchan_channel_id garden;
      nchan_subscriber_first_message newest;
    }`,
  });
}

interface NginxExtension {
  readonly modules: string;
  readonly locations: string;
}

async function startNginxWith(
  bench: BenchContext,
  folder: string,
  extra: NginxExtension,
): Promise<Peer> {
  const port = await freePort();
  await mkdir(join(folder, 'temp'), { recursive: true });
  await writeFile(join(folder, 'nginx.conf'), configuration(folder, port, extra));
  await writeFile(join(folder, 'ready'), 'ready');
  const command = [pathOf('nginx'), '-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
  const child = await startProcess(bench, command, 'inherit');
  return waitUntilReady(bench, child, { url: `http://127.0.0.1:${port}` });
}

function configuration(folder: string, port: number, extra: NginxExtension): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path temp/${name};`)
    .join('\n  ');
  // Started by root, nginx would run as a user who cannot read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user}
${extra.modules}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  ${temp}
  default_type application/json;
  access_log off;
  sendfile on;
  tcp_nopush on;
  # The default closes each connection after 1,000 requests.
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    root "${folder}";
    ${extra.locations}
  }
}
`;
}

export async function waitUntilReady(
  bench: BenchContext,
  child: Child,
  at: { readonly url: string; readonly body?: string },
): Promise<Peer> {
  const options = at.body === undefined ? {} : { body: at.body };
  const until = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < until && child.exitStatus() === undefined) {
    const isReady = await sendRequest(`${at.url}/ready`, options).then(
      () => true,
      () => false,
    );
    if (isReady) {
      const dispose = async (): Promise<void> => await child[Symbol.asyncDispose]();
      return { url: at.url, pid: child.pid, [Symbol.asyncDispose]: dispose };
    }
    await sleep(10, undefined, { signal: bench.signal });
  }
  await child[Symbol.asyncDispose]();
  throw new Error(`Cannot reach the peer at ${at.url}: it ended or does not answer`);
}
