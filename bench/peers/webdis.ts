/** The peer of durable POSTs: webdis, an HTTP server in C, in front of Redis that flushes each write. */
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';
import { startProcess } from '../processes/child-process.ts';
import { pathOf } from '../processes/external-tools.ts';
import { freePort } from '../../test/gateway-process.ts';
import { sendRequest } from '../clients/http.ts';
import { type EntryStore, waitUntilReady } from './peer.ts';

export interface Webdis extends EntryStore {
  readonly redisPort: number;
}

/** Its data is in the folder. */
export async function startWebdis(bench: BenchContext, folder: string): Promise<Webdis> {
  await using started = new AsyncDisposableStack();
  const [port, redisPort] = [await freePort(), await freePort()];
  const network = ['--port', String(redisPort), '--bind', '127.0.0.1', '--dir', folder];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const command = [pathOf('redis-server'), ...network, ...durable, '--loglevel', 'warning'];
  const redis = started.use(await startProcess(bench, command, ['ignore', 'ignore', 'inherit']));
  await waitUntilListening(bench, redisPort);
  const settings = {
    redis_host: '127.0.0.1',
    redis_port: redisPort,
    http_host: '127.0.0.1',
    http_port: port,
    threads: 4,
    pool_size: 20,
    daemonize: false,
    database: 0,
    acl: [],
    verbosity: 0,
    logfile: join(folder, 'webdis.log'),
  };
  const file = join(folder, 'webdis.json');
  await writeFile(file, JSON.stringify(settings));
  const child = await startProcess(bench, [pathOf('webdis'), file], 'ignore');
  const url = `http://127.0.0.1:${port}`;
  const webdis = started.use(await waitUntilReady(bench, child, { url }));
  const rest = started.move();
  return {
    pids: [webdis.pid, redis.pid],
    redisPort,
    append: { url: `${url}/XADD/garden/*/entry`, sendBy: 'PUT' },
    length: async () => {
      const { text } = await sendRequest(`${url}/XLEN/garden`);
      return Number(/\d+/.exec(text)?.[0]);
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

async function waitUntilListening(bench: BenchContext, port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(10, undefined, { signal: bench.signal });
  }
  throw new Error(`Cannot reach Redis at port ${port}`);
}
