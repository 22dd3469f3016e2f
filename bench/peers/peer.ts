/** What the gateway is measured beside, each in a process of its own on the loopback interface. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Bench } from '../bench.ts';
import { start, type Child } from '../children.ts';
import { ask, freePort } from '../http.ts';
import { NCHAN, pathOf } from '../tools.ts';

const ECHO = fileURLToPath(import.meta.resolve('./echo.ts'));

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** A bare `node:http` server that parses JSON and says it back. */
export async function startEcho(bench: Bench): Promise<Peer> {
  const port = await freePort();
  const child = await start(bench, [process.execPath, ECHO, String(port)], 'inherit');
  return answering(bench, child, { url: `http://127.0.0.1:${port}`, body: '{}' });
}

/** nginx with one worker, serving the files of a folder. It keeps its own state in there too. */
export function startNginx(bench: Bench, folder: string): Promise<Peer> {
  return startNginxWith(bench, folder, { modules: '', locations: '' });
}

/** The same with nchan: what is posted to `/post` goes to whoever reads `/events`. */
export function startNchan(bench: Bench, folder: string): Promise<Peer> {
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

interface Extra {
  readonly modules: string;
  readonly locations: string;
}

async function startNginxWith(bench: Bench, folder: string, extra: Extra): Promise<Peer> {
  const port = await freePort();
  await mkdir(join(folder, 'temp'), { recursive: true });
  await writeFile(join(folder, 'nginx.conf'), configuration(folder, port, extra));
  await writeFile(join(folder, 'ready'), 'ready');
  const command = [pathOf('nginx'), '-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
  const child = await start(bench, command, 'inherit');
  return answering(bench, child, { url: `http://127.0.0.1:${port}` });
}

function configuration(folder: string, port: number, extra: Extra): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path temp/${name};`)
    .join('\n  ');
  // Started by root, nginx would serve as a user who can't read the folder.
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
  # By default it would close each connection after 1,000 requests.
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    root "${folder}";
    ${extra.locations}
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
    if (answered) {
      const gone = async (): Promise<void> => await child[Symbol.asyncDispose]();
      return { url: at.url, pid: child.pid, [Symbol.asyncDispose]: gone };
    }
    await sleep(10, undefined, { signal: bench.signal });
  }
  await child[Symbol.asyncDispose]();
  throw new Error(`Cannot reach the peer at ${at.url}: it ended or stayed silent`);
}
