/** What a gateway with a million entries costs while nobody is connected, and how large its folder is. */
import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';
import { copiedFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { cpuOf } from '../measure/cpu.ts';
import { atMost, information, mebibytes, type ResultLine } from '../measure/table.ts';

const ENTRIES = 1_000_000;
const MAX_PERCENT = 0.2;
const SECONDS = 60;
const SECONDS_WHEN_QUICK = 5;

export async function idle(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await copiedFolder(bench, ENTRIES);
  await using gateway = await startGateway(bench, folder.path);
  await waitUntilIndexed(bench, gateway.url);
  const seconds = bench.quick ? SECONDS_WHEN_QUICK : SECONDS;
  const wait = (): Promise<void> => sleep(seconds * 1000, undefined, { signal: bench.signal });
  bench.note('letting it settle');
  await wait();
  bench.note('nobody connected');
  const [cpu, read] = [cpuOf(gateway.pid), readBy(gateway.pid)];
  const startedAt = performance.now();
  await wait();
  const took = (performance.now() - startedAt) / 1000;
  const percent = ((cpuOf(gateway.pid) - cpu) / took) * 100;
  const readEachSecond = (readBy(gateway.pid) - read) / took;
  return [
    atMost('idle with 1 million entries', [percent], MAX_PERCENT, '% of a core'),
    information('  bytes read a second', Math.round(readEachSecond).toLocaleString('en')),
    information('  its data folder on the disk', mebibytes(await sizeOf(folder.path))),
  ];
}

/** Bytes that a process has read from files and sockets, also from the page cache. */
function readBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]);
}

async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const path of await readdir(folder, { recursive: true })) {
    // In units of 512 bytes, whatever the file system's blocks are.
    size += (await stat(join(folder, path))).blocks * 512;
  }
  return size;
}
