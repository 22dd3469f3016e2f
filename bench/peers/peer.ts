/** What the gateway is measured beside, each in a process of its own on the loopback interface. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Bench } from '../bench.ts';
import { start, type Child } from '../children.ts';
import { ask, freePort } from '../http.ts';
import { pathOf } from '../tools.ts';

const ECHO = fileURLToPath(import.meta.resolve('./echo.ts'));

export interface Peer extends AsyncDisposable {
  readonly url: string;
}

/** A bare `node:http` server that parses JSON and says it back. */
export async function startEcho(bench: Bench): Promise<Peer> {
  const port = await freePort();
  const child = await start(bench, [process.execPath, ECHO, String(port)], 'inherit');
  return answering(bench, child, { url: `http://127.0.0.1:${port}`, body: '{}' });
}

/** nginx with one worker, serving the files of a folder. It keeps its own state in there too. */
export async function startNginx(bench: Bench, folder: string): Promise<Peer> {
  const port = await freePort();
  await mkdir(join(folder, 'temp'), { recursive: true });
  await writeFile(join(folder, 'nginx.conf'), configuration(folder, port));
  await writeFile(join(folder, 'ready'), 'ready');
  const command = [pathOf('nginx'), '-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
  const child = await start(bench, command, 'inherit');
  return answering(bench, child, { url: `http://127.0.0.1:${port}` });
}

function configuration(folder: string, port: number): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path temp/${name};`)
    .join('\n  ');
  // Started by root, nginx would serve as a user who can't read the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${user}
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
  # By default it would close each connection after 1,000 requests.
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    root "${folder}";
  }
}
`;
}

async function answering(
  bench: Bench,
  child: Child,
  at: { readonly url: string; readonly body?: string },
): Promise<Peer> {
  const question = at.body === undefined ? {} : { body: at.body };
  for (let tries = 0; tries < 500 && child.ended() === undefined; tries += 1) {
    const answered = await ask(`${at.url}/ready`, question).then(
      () => true,
      () => false,
    );
    if (answered) return { url: at.url, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
    await sleep(10, undefined, { signal: bench.signal });
  }
  await child[Symbol.asyncDispose]();
  throw new Error(`Cannot reach the peer at ${at.url}: it ended or stayed silent`);
}
