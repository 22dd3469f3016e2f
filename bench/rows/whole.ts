/** The whole garden of a million as a stream, beside nginx that has the same bytes in a file. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Bench } from '../bench.ts';
import { run } from '../children.ts';
import { emptyFolder, requireSpace, seededFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { save } from '../http.ts';
import { startNginx } from '../peers/peer.ts';
import { takeTurns, type Rounds } from '../rounds.ts';
import { saidBy } from '../said.ts';
import { atLeast, type Line } from '../table.ts';

const TARGET = 1;
const ENTRIES = 1_000_000;
const DRAIN = fileURLToPath(import.meta.resolve('../drain.ts'));

export async function whole(bench: Bench): Promise<Line[]> {
  bench.note('the whole garden');
  const alone = await compare(bench, await seededFolder(bench, ENTRIES));
  bench.note('the whole garden, of a log of several kinds');
  const mixed = await seededFolder(bench, 2 * ENTRIES, 'garden=2,seeds=1,shepit=1');
  const among = await compare(bench, mixed);
  return [
    atLeast('whole garden of 1 million', alone, 'MB/s', TARGET),
    atLeast('  the same among 1 million seeds and whispers', among, 'MB/s', TARGET),
  ];
}

async function compare(bench: Bench, folder: string): Promise<Rounds> {
  await requireSpace(bench, 1e9);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder);
  await using peer = await startNginx(bench, files.path);
  const file = join(files.path, 'garden.json');
  await save(`${gateway.url}/api/garden`, file);
  const { size } = await stat(file);
  const round = (url: string): Promise<number> => drain(bench, url, size);
  const peerRound = (): Promise<number> => round(`${peer.url}/garden.json`);
  const ourRound = (): Promise<number> => round(`${gateway.url}/api/garden`);
  await peerRound();
  await ourRound();
  return await takeTurns(bench.quick ? 3 : 5, { ours: ourRound, peer: peerRound });
}

/** MB/s of the body without what chunking adds. */
async function drain(bench: Bench, url: string, size: number): Promise<number> {
  const said = await run(bench, [process.execPath, DRAIN, url]);
  const drained = saidBy(said);
  const bodyBytes = drained.number('bodyBytes');
  // Chunks may add a little; an answer that broke off has another end.
  const complete =
    drained.number('status') === 200 && /"next":null\}\s*(0\s*)?$/.test(drained.text('end'));
  if (!complete || bodyBytes < size || bodyBytes > size * 1.01) {
    throw new Error(`Cannot compare: ${url} is ${size} bytes long, its reader got ${said}`);
  }
  return size / 1e6 / drained.number('seconds');
}
