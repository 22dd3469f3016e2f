/** Memory of a gateway at rest: after a start, after the first start of a user, and after full load. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { runWrk } from '../clients/wrk.ts';
import { rssOf } from '../measure/rss.ts';
import { memory as amount, type ResultLine } from '../measure/table.ts';

const LIMIT = { bytes: 130e6, text: '130 MB' };
const ANONYMOUS_LIMIT = { bytes: 70e6, text: '70 MB' };
const FIRST_START_LIMIT = { bytes: 150e6, text: '150 MB' };
const AFTER_LOAD_LIMIT = { bytes: 200e6, text: '200 MB' };
const CONNECTIONS = 512;

export async function memoryAtRest(bench: BenchContext): Promise<ResultLine[]> {
  return [...(await idle(bench)), ...(await firstStart(bench)), ...(await afterLoad(bench))];
}

async function idle(bench: BenchContext): Promise<ResultLine[]> {
  bench.note('idle');
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await rest(bench, 20);
  const rss = rssOf(gateway.pid);
  return [
    amount('memory, idle', rss.all, LIMIT),
    amount('  of it belonging to no file', rss.anonymous, ANONYMOUS_LIMIT),
  ];
}

async function firstStart(bench: BenchContext): Promise<ResultLine[]> {
  bench.note('a first start');
  await using folder = await emptyFolder(bench);
  await using cache = await emptyFolder(bench);
  const { NODE_COMPILE_CACHE: before } = process.env;
  process.env['NODE_COMPILE_CACHE'] = cache.path;
  try {
    await using gateway = await startGateway(bench, folder.path);
    await rest(bench, 20);
    const rss = rssOf(gateway.pid);
    return [amount('memory, idle after a first start', rss.all, FIRST_START_LIMIT)];
  } finally {
    if (before === undefined) delete process.env['NODE_COMPILE_CACHE'];
    else process.env['NODE_COMPILE_CACHE'] = before;
  }
}

async function afterLoad(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  bench.note(`full load of POSTs over ${CONNECTIONS} connections`);
  await runWrk(bench, {
    url: `${gateway.url}/api/garden`,
    connections: CONNECTIONS,
    seconds: bench.quick ? 5 : 30,
    sendBy: 'POST',
  });
  const loaded = rssOf(gateway.pid);
  await rest(bench, 60);
  const rss = rssOf(gateway.pid);
  return [
    amount('memory, at the end of full load', loaded.all),
    amount('memory, a minute later', rss.all, AFTER_LOAD_LIMIT),
    amount('  of it belonging to no file', rss.anonymous),
  ];
}

async function rest(bench: BenchContext, seconds: number): Promise<void> {
  await sleep(bench.quick ? 3000 : seconds * 1000, undefined, { signal: bench.signal });
}
