/** The newest 50 of a million garden entries, beside nginx with the same bytes in a file. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { BenchContext } from '../options.ts';
import { copiedFolder, emptyFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { download } from '../clients/http.ts';
import { runWrk } from '../clients/wrk.ts';
import { startNginx } from '../peers/peer.ts';
import { alternate } from '../measure/rounds.ts';
import { atLeast, information, type ResultLine } from '../measure/table.ts';
import { gardenPosts, sendDuring } from '../clients/paced-client.ts';

const TARGET = 0.5;
const ENTRIES = 1_000_000;
const PATH = '/api/garden?limit=50';
const CONNECTIONS = 64;
const POST_EVERY_MS = 5;

export async function newest(bench: BenchContext): Promise<ResultLine[]> {
  await using data = await copiedFolder(bench, ENTRIES);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, data.path);
  await using peer = await startNginx(bench, files.path);
  const file = join(files.path, 'newest.json');
  await download(gateway.url + PATH, file);
  const { size } = await stat(file);

  const [seconds, count] = bench.quick ? [1, 3] : [5, 5];
  const round = async (url: string): Promise<number> => {
    const { perSecond, responseBytes: answerBytes } = await runWrk(bench, {
      url,
      connections: CONNECTIONS,
      seconds,
    });
    // Seqs of newer entries may differ in length.
    if (answerBytes < size - 1000) throw new Error(`Cannot compare: ${url} sent too few bytes`);
    return perSecond;
  };
  const peerRound = (): Promise<number> => round(`${peer.url}/newest.json`);
  const ourRound = (): Promise<number> => round(gateway.url + PATH);
  bench.note('newest 50, nothing new meanwhile');
  await peerRound();
  await ourRound();
  const quiet = await alternate(count, { ours: ourRound, peer: peerRound });

  bench.note('newest 50, while 200 entries/s come in');
  let [posted, late] = [0, 0];
  const busyRound = async (): Promise<number> => {
    const plan = { everyMs: POST_EVERY_MS, next: gardenPosts('/api/garden') };
    const { requests, result } = await sendDuring(gateway.url, plan, ourRound);
    posted += requests.posted;
    late = Math.max(late, ...requests.latencies);
    return result;
  };
  const busy = await alternate(count, { ours: busyRound, peer: peerRound });
  return [
    atLeast('newest 50 of a garden of 1 million', quiet, 'requests/s', TARGET),
    atLeast('  the same while 200 entries/s come in', busy, 'requests/s', TARGET),
    information(
      '  entries that came in; longest wait for a 201',
      `${posted}; ${late.toFixed(0)} ms`,
    ),
  ];
}
