/** Memory: at rest, of event streams, while an entry of gigabytes is uploaded and read, and with a slow reader. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';
import { emptyFolder, requireSpace, seededFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { sendRequest } from '../clients/http.ts';
import { percentile } from '../measure/rounds.ts';
import { growthDuring } from '../measure/rss.ts';
import { assertSame, type Transfer, transferLargeEntry } from '../clients/transfer-large-entry.ts';
import { readSlowly } from '../clients/slow-reader.ts';
import { memoryAtRest } from './memory-at-rest.ts';
import { memoryOfStreams } from './memory-of-streams.ts';
import { information, mebibytes, memory as amount, type ResultLine } from '../measure/table.ts';
import {
  gardenPosts,
  sendDuring,
  type RequestSource,
  type PacedResult,
} from '../clients/paced-client.ts';

const LARGE_GROWTH = { bytes: 64 * 2 ** 20, text: '64 MiB' };
const LARGE_BYTES = 4 * 2 ** 30;
const LARGE_BYTES_WHEN_QUICK = 600 * 2 ** 20;
const LISTED = 1_000_000;

export async function memory(bench: BenchContext): Promise<ResultLine[]> {
  return [
    ...(await memoryAtRest(bench)),
    ...(await memoryOfStreams(bench)),
    ...(await largeEntry(bench)),
    ...(await slowReader(bench)),
  ];
}

async function largeEntry(bench: BenchContext): Promise<ResultLine[]> {
  const size = bench.quick ? LARGE_BYTES_WHEN_QUICK : LARGE_BYTES;
  const name = size >= 2 ** 30 ? `${size / 2 ** 30} GiB` : `${size / 2 ** 20} MiB`;
  await requireSpace(bench, 2.5 * size);
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  const { url, pid } = gateway;
  const plan = { everyMs: 20, next: smallRequests() };
  const sendWhispersDuring = (
    work: () => Promise<Transfer>,
  ): ReturnType<typeof sendDuring<Transfer>> => sendDuring(url, plan, work);

  bench.note('small requests alone');
  const calm = await sendDuring(url, plan, () =>
    sleep(bench.quick ? 2000 : 5000, undefined, { signal: bench.signal }),
  );
  bench.note(`a text of ${name}`);
  const sending = await growthDuring(pid, () =>
    sendWhispersDuring(() =>
      transferLargeEntry(bench, ['send', `${url}/api/garden`, String(size)]),
    ),
  );
  bench.note('reading it back');
  const sent = sending.result.result;
  const reading = await growthDuring(pid, () =>
    sendWhispersDuring(() => transferLargeEntry(bench, ['read', url + sent.location])),
  );
  const got = reading.result.result;
  assertSame(sent, got);
  const pace = ({ bytes, seconds }: Transfer): string =>
    `${Math.round(bytes / 1e6 / seconds)} MB/s`;
  const alone = formatWaits(calm.requests);
  return [
    amount(`memory, growth with a text of ${name} coming in`, sending.growth.all, LARGE_GROWTH),
    amount('  of it belonging to no file', sending.growth.anonymous),
    information(
      '  waits of another visitor meanwhile; before it',
      formatWaits(sending.result.requests),
      alone,
    ),
    information('  pace; SHA-256 of what was read back', `${pace(sent)}; the same`),
    amount('memory, growth while it is read back', reading.growth.all),
    information(
      '  waits of another visitor meanwhile',
      formatWaits(reading.result.requests),
      alone,
    ),
    information('  pace', pace(got)),
  ];
}

/** Alternates between POST and GET of whispers; the large entry is not in that listing. */
function smallRequests(): RequestSource {
  const next = gardenPosts('/api/shepit');
  let reads = false;
  return () => {
    reads = !reads;
    return reads ? { path: '/api/shepit?limit=5' } : next();
  };
}

function formatWaits({ latencies, ownDelay }: PacedResult): string {
  const [middle, most, longest] = [0.5, 0.99, 1].map((share) =>
    percentile(latencies, share).toFixed(0),
  );
  return `p50 ${middle}, p99 ${most}, longest ${longest} ms (own delay ${ownDelay.toFixed(0)} ms)`;
}

async function slowReader(bench: BenchContext): Promise<ResultLine[]> {
  const seconds = bench.quick ? 5 : 20;
  const folder = await seededFolder(bench, LISTED);
  await using gateway = await startGateway(bench, folder);
  // Warm-up: the first responses allocate memory of their own.
  for (let count = 0; count < 50; count += 1)
    await sendRequest(`${gateway.url}/api/garden?limit=50`);
  await sleep(2000, undefined, { signal: bench.signal });
  bench.note('a client that reads a listing of 1 million entries at 1 MiB/s');
  const pace = { bytesPerSecond: 2 ** 20, seconds };
  const { growth, result } = await growthDuring(gateway.pid, () =>
    readSlowly(bench, `${gateway.url}/api/garden`, pace),
  );
  if (result < 0.8 * seconds * pace.bytesPerSecond) {
    throw new Error(`Cannot read 1 MiB/s: got ${mebibytes(result)} in ${seconds} s`);
  }
  return [
    amount('memory, growth with a slow reader of 1 million entries', growth.all),
    amount('  of it belonging to no file', growth.anonymous),
  ];
}
