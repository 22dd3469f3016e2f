/** The newest 50 of a garden of a million, beside nginx that has the same bytes in a file. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bench } from '../bench.ts';
import { copiedFolder, emptyFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { save } from '../http.ts';
import { load } from '../load.ts';
import { startNginx } from '../peers/peer.ts';
import { takeTurns } from '../rounds.ts';
import { atLeast, fact, type Line } from '../table.ts';
import { posts, visitDuring } from '../visitor.ts';

const TARGET = 0.5;
const ENTRIES = 1_000_000;
const PATH = '/api/garden?limit=50';
const CONNECTIONS = 64;
const POST_EVERY_MS = 5;

export async function newest(bench: Bench): Promise<Line[]> {
  await using data = await copiedFolder(bench, ENTRIES);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, data.path);
  await using peer = await startNginx(bench, files.path);
  const file = join(files.path, 'newest.json');
  await save(gateway.url + PATH, file);
  const { size } = await stat(file);

  const [seconds, count] = bench.quick ? [1, 3] : [5, 5];
  const round = async (url: string): Promise<number> => {
    const { perSecond, answerBytes } = await load(bench, {
      url,
      connections: CONNECTIONS,
      seconds,
    });
    // Seqs of entries that come meanwhile may be a digit longer or shorter.
    if (answerBytes < size - 1000) throw new Error(`Cannot compare: ${url} gave too few bytes`);
    return perSecond;
  };
  const peerRound = (): Promise<number> => round(`${peer.url}/newest.json`);
  const ourRound = (): Promise<number> => round(gateway.url + PATH);
  bench.note('newest 50, nothing new meanwhile');
  await peerRound();
  await ourRound();
  const quiet = await takeTurns(count, { ours: ourRound, peer: peerRound });

  bench.note('newest 50, while 200 entries/s come in');
  let [posted, late] = [0, 0];
  const busyRound = async (): Promise<number> => {
    const plan = { everyMs: POST_EVERY_MS, next: posts('/api/garden') };
    const { visit, result } = await visitDuring(gateway.url, plan, ourRound);
    posted += visit.posted;
    late = Math.max(late, ...visit.latencies);
    return result;
  };
  const busy = await takeTurns(count, { ours: busyRound, peer: peerRound });
  return [
    atLeast('newest 50 of a garden of 1 million', quiet, 'requests/s', TARGET),
    atLeast('  the same while 200 entries/s come in', busy, 'requests/s', TARGET),
    fact('  entries that came in; longest wait for a 201', `${posted}; ${late.toFixed(0)} ms`),
  ];
}
