/**
 * All of a million garden entries. Plain, beside what a user would pick to store and send them; as programs ask
 * that accept compression, beside nginx with the same bytes in a file; and plain beside that file, as the limit.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';

import type { BenchContext } from '../options.ts';
import { runCommand } from '../processes/child-process.ts';
import { emptyFolder, requireSpace, seededFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { download } from '../clients/http.ts';
import { startNginx } from '../peers/peer.ts';
import { startPostgres } from '../peers/postgres.ts';
import { cpuOf } from '../measure/cpu.ts';
import { alternate, median, type Rounds } from '../measure/rounds.ts';
import { parseJsonOutput } from '../processes/json-output.ts';
import { atLeast, information, ratioOnly, type ResultLine } from '../measure/table.ts';

const ENTRIES = 1_000_000;
/** All have more. */
const MIN_BYTES = 100e6;
const READ_RESPONSE = fileURLToPath(import.meta.resolve('../clients/read-response.ts'));
const FETCH_RESPONSE = fileURLToPath(import.meta.resolve('../clients/fetch-response.ts'));
/** How long frames are waited for. */
const MAX_FRAME_MS = 120_000;
const GARDEN = '/api/garden';

/** How programs ask, and the least share of the peer's rate. `nginx` without a target is the limit. */
const FORMS = [
  { label: '  beside nginx with sendfile', accept: 'identity' },
  { label: '  as fetch asks, beside nginx', accept: 'gzip, deflate', target: 0.75 },
  { label: '  as browsers ask, beside nginx', accept: 'gzip, deflate, br, zstd', target: 0.75 },
] as const;
const STORE_TARGET = 3;

interface Side {
  readonly url: string;
  readonly pids: readonly number[];
}

interface Form {
  readonly label: string;
  readonly accept: string;
  readonly target?: number;
}

export async function whole(bench: BenchContext): Promise<ResultLine[]> {
  bench.note('the whole garden');
  const alone = await seededFolder(bench, ENTRIES);
  const lines = [...(await besideStore(bench, alone)), ...(await besideFile(bench, alone, FORMS))];
  bench.note('the whole garden, of a log of several kinds');
  const mixed = await seededFolder(bench, 2 * ENTRIES, 'garden=2,seeds=1,shepit=1');
  const label = '  the same among 1 million seeds and whispers';
  return [...lines, ...(await besideFile(bench, mixed, [{ ...FORMS[0], label }]))];
}

async function besideStore(bench: BenchContext, folder: string): Promise<ResultLine[]> {
  await requireSpace(bench, 2e9);
  await using state = await emptyFolder(bench);
  await using store = await startPostgres(bench, state.path, ENTRIES);
  await using gateway = await startGateway(bench, folder);
  const ours = { url: gateway.url + GARDEN, pids: [gateway.pid] };
  await untilFramed(bench, ours);
  const sides = { ours, peer: { url: store.allUrl, pids: store.pids } };
  const form = {
    label: 'whole garden of 1 million, beside Fastify + PostgreSQL',
    accept: 'identity',
    target: STORE_TARGET,
  };
  return await compare(bench, form, sides);
}

async function besideFile(
  bench: BenchContext,
  folder: string,
  forms: readonly Form[],
): Promise<ResultLine[]> {
  await requireSpace(bench, 1e9);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder);
  await using nginx = await startNginx(bench, files.path);
  const file = join(files.path, 'garden.json');
  const ours = { url: gateway.url + GARDEN, pids: [gateway.pid] };
  const peer = { url: `${nginx.url}/garden.json`, pids: [nginx.pid] };
  await untilFramed(bench, ours);
  await download(ours.url, file);
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz`));
  const lines: ResultLine[] = [];
  for (const form of forms) {
    await requireSameBytes(ours.url, form.accept, file);
    lines.push(...(await compare(bench, form, { ours, peer })));
  }
  return lines;
}

async function compare(
  bench: BenchContext,
  { label, accept, target }: Form,
  sides: Readonly<Record<'ours' | 'peer', Side>>,
): Promise<ResultLine[]> {
  bench.note(`${label.trim()}: ${accept}`);
  const cpu = { ours: [] as number[], peer: [] as number[] };
  const round = async (side: 'ours' | 'peer'): Promise<number> => {
    const { seconds, cpuMs, bodyBytes } = await readOnce(bench, sides[side], accept);
    if (bodyBytes < MIN_BYTES)
      throw new Error(`Cannot compare: ${bodyBytes} bytes came from ${sides[side].url}`);
    cpu[side].push(cpuMs);
    return bodyBytes / 1e6 / seconds;
  };
  await round('peer');
  await round('ours');
  const rounds: Rounds = await alternate(bench.quick ? 3 : 9, {
    ours: () => round('ours'),
    peer: () => round('peer'),
  });
  const used = (side: 'ours' | 'peer'): string => `${median(cpu[side].slice(1)).toFixed(0)} ms`;
  return [
    target === undefined
      ? ratioOnly(label, rounds, 'MB/s')
      : atLeast(label, rounds, 'MB/s', target),
    information('  CPU time of the server for it', used('ours'), used('peer')),
  ];
}

/** The gateway makes frames after a start, if the index has none. */
async function untilFramed(bench: BenchContext, { pids: [pid = 0] }: Side): Promise<void> {
  for (const start = performance.now(); performance.now() - start < MAX_FRAME_MS;) {
    const before = cpuOf(pid);
    await sleep(2000, undefined, { signal: bench.signal });
    if (cpuOf(pid) - before < 0.5) return;
  }
  throw new Error('The gateway does not come to rest.');
}

/** Reads the response with Node's client, which decodes it. */
async function requireSameBytes(url: string, accept: string, file: string): Promise<void> {
  const { body } = await fetch(url, { headers: { 'Accept-Encoding': accept } });
  if (body === null || (await digestOf(body)) !== (await digestOf(createReadStream(file))))
    throw new Error(`Cannot compare: ${url} has other bytes with ${accept}`);
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest('hex');
}

/** A bare socket reads what is plain, and `fetch` what has to be decoded. */
async function readOnce(
  bench: BenchContext,
  { url, pids }: Side,
  accept: string,
): Promise<{ seconds: number; cpuMs: number; bodyBytes: number }> {
  const used = (): number => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const before = used();
  const output = await runCommand(bench, [
    process.execPath,
    ...(accept === 'identity' ? [READ_RESPONSE, url] : [FETCH_RESPONSE, url, accept]),
  ]);
  const result = parseJsonOutput(output);
  if (result.number('status') !== 200) throw new Error(`Cannot read ${url}: got ${output}`);
  return {
    seconds: result.number('seconds'),
    cpuMs: (used() - before) * 1000,
    bodyBytes: result.number('bodyBytes'),
  };
}
