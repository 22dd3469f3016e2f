/** All of a million garden entries, beside nginx with the same bytes in a file. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand } from '../processes/child-process.ts';
import { emptyFolder, requireSpace, seededFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { download } from '../clients/http.ts';
import { startNginx } from '../peers/peer.ts';
import { alternate, type Rounds } from '../measure/rounds.ts';
import { parseJsonOutput } from '../processes/json-output.ts';
import { atLeast, type ResultLine } from '../measure/table.ts';

const TARGET = 1;
const ENTRIES = 1_000_000;
const READ_RESPONSE = fileURLToPath(import.meta.resolve('../clients/read-response.ts'));

export async function whole(bench: BenchContext): Promise<ResultLine[]> {
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

async function compare(bench: BenchContext, folder: string): Promise<Rounds> {
  await requireSpace(bench, 1e9);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder);
  await using peer = await startNginx(bench, files.path);
  const file = join(files.path, 'garden.json');
  await download(`${gateway.url}/api/garden`, file);
  const { size } = await stat(file);
  const round = (url: string): Promise<number> => readThroughput(bench, url, size);
  const peerRound = (): Promise<number> => round(`${peer.url}/garden.json`);
  const ourRound = (): Promise<number> => round(`${gateway.url}/api/garden`);
  await peerRound();
  await ourRound();
  return await alternate(bench.quick ? 3 : 5, { ours: ourRound, peer: peerRound });
}

/** MB/s of the body, without chunked framing. */
async function readThroughput(bench: BenchContext, url: string, size: number): Promise<number> {
  const output = await runCommand(bench, [process.execPath, READ_RESPONSE, url]);
  const result = parseJsonOutput(output);
  const bodyBytes = result.number('bodyBytes');
  // Chunked framing adds a little; an incomplete response ends differently.
  const complete =
    result.number('status') === 200 && /"next":null\}\s*(0\s*)?$/.test(result.text('end'));
  if (!complete || bodyBytes < size || bodyBytes > size * 1.01) {
    throw new Error(`Cannot compare: ${url} is ${size} bytes long, its reader got ${output}`);
  }
  return size / 1e6 / result.number('seconds');
}
