/** Memory of event streams: open and silent, and never read while entries come in at full speed. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { startSubscribers } from '../clients/subscriber-group.ts';
import { runWrk } from '../clients/wrk.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { rssOf } from '../measure/rss.ts';
import { memory as amount, type ResultLine } from '../measure/table.ts';
import { startProcess } from '../processes/child-process.ts';
import { startGateway } from '../processes/gateway.ts';

const STALLED_READERS = fileURLToPath(import.meta.resolve('../clients/stalled-readers.ts'));
const SILENT = 10_000;
const UNREAD = 1500;
const LIMIT = { bytes: SILENT * 12 * 1024, text: '12 KiB each' };

export async function memoryOfStreams(bench: BenchContext): Promise<ResultLine[]> {
  return [...(await silentStreams(bench)), ...(await unreadStreams(bench))];
}

async function silentStreams(bench: BenchContext): Promise<ResultLine[]> {
  const count = bench.quick ? SILENT / 10 : SILENT;
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path, '--threads', '1');
  await rest(bench);
  const before = rssOf(gateway.pid).all;
  bench.note(`${count} silent event streams`);
  const readers = await startSubscribers(bench, `${gateway.url}/api/events`, count);
  try {
    await rest(bench);
    const open = rssOf(gateway.pid).all - before;
    await readers[Symbol.asyncDispose]();
    await rest(bench);
    return [
      amount(`memory, growth with ${count.toLocaleString('en')} silent event streams`, open, LIMIT),
      amount('  growth left when they are closed', rssOf(gateway.pid).all - before),
    ];
  } finally {
    await readers[Symbol.asyncDispose]();
  }
}

async function unreadStreams(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path, '--threads', '1');
  const url = `${gateway.url}/api/garden`;
  const burst = { url, connections: 64, seconds: 5, sendBy: 'POST' } as const;
  // What the load takes by itself is not counted.
  await runWrk(bench, burst);
  await rest(bench);
  const before = rssOf(gateway.pid).all;
  const command = [process.execPath, STALLED_READERS, `${gateway.url}/api/events`, String(UNREAD)];
  await using readers = await startProcess(bench, command, ['ignore', 'inherit', 'inherit', 'ipc']);
  await once(readers.process, 'message', { signal: bench.signal });
  bench.note(`full load of POSTs beside ${UNREAD} event streams that are never read`);
  await runWrk(bench, burst);
  const loaded = rssOf(gateway.pid).all - before;
  await readers[Symbol.asyncDispose]();
  await rest(bench);
  return [
    amount(`memory, growth with ${UNREAD} unread event streams under full load`, loaded),
    amount('  growth left when they are closed', rssOf(gateway.pid).all - before),
  ];
}

async function rest(bench: BenchContext): Promise<void> {
  await sleep(bench.quick ? 12_000 : 20_000, undefined, { signal: bench.signal });
}
