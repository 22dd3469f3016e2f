/**
 * All of a million garden entries, beside nginx with the same bytes in a file: plain, and as programs
 * ask that accept compression.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
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
import { cpuOf } from '../measure/cpu.ts';
import { alternate, median, type Rounds } from '../measure/rounds.ts';
import { parseJsonOutput } from '../processes/json-output.ts';
import { atLeast, information, type ResultLine } from '../measure/table.ts';

const ENTRIES = 1_000_000;
const READ_RESPONSE = fileURLToPath(import.meta.resolve('../clients/read-response.ts'));
const FETCH_RESPONSE = fileURLToPath(import.meta.resolve('../clients/fetch-response.ts'));
/** How long chunks are waited for that are compressed for the first time. */
const MAX_ENCODE_MS = 120_000;

/** `copied`: by nginx without `sendfile`. */
const FORMS = [
  { label: 'whole garden of 1 million', accept: 'identity', folder: '', target: 0.75 },
  { label: '  nginx without sendfile', accept: 'identity', folder: 'copied/', target: 1 },
  { label: '  as fetch asks', accept: 'gzip, deflate', folder: '', target: 1 },
  { label: '  as browsers ask', accept: 'gzip, deflate, br, zstd', folder: '', target: 1 },
] as const;
type Form = (typeof FORMS)[number];

interface Side {
  readonly url: string;
  readonly pid: number;
}

export async function whole(bench: BenchContext): Promise<ResultLine[]> {
  bench.note('the whole garden');
  const alone = await compare(bench, await seededFolder(bench, ENTRIES), FORMS);
  bench.note('the whole garden, of a log of several kinds');
  const mixed = await seededFolder(bench, 2 * ENTRIES, 'garden=2,seeds=1,shepit=1');
  const label = '  the same among 1 million seeds and whispers';
  const among = await compare(bench, mixed, [{ ...FORMS[0], label }]);
  return [...alone, ...among];
}

async function compare(
  bench: BenchContext,
  folder: string,
  forms: readonly (Omit<Form, 'label'> & { readonly label: string })[],
): Promise<ResultLine[]> {
  await requireSpace(bench, 1e9);
  await using files = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder);
  await using nginx = await startNginx(bench, files.path);
  const file = join(files.path, 'garden.json');
  await download(`${gateway.url}/api/garden`, file);
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz`));
  const { size } = await stat(file);
  const lines: ResultLine[] = [];
  for (const { label, accept, folder: below, target } of forms) {
    bench.note(`${label.trim()}: ${accept}`);
    const ours = { url: `${gateway.url}/api/garden`, pid: gateway.pid };
    const peer = { url: `${nginx.url}/${below}garden.json`, pid: nginx.pid };
    if (accept !== 'identity') await untilEncoded(bench, ours, accept);
    await requireSameBytes(ours.url, accept, file);
    const cpu = { ours: [] as number[], peer: [] as number[] };
    const round = async (side: 'ours' | 'peer'): Promise<number> => {
      const { seconds, cpuMs, bodyBytes } = await readOnce(
        bench,
        side === 'ours' ? ours : peer,
        accept,
      );
      // Chunked framing adds a little where it is not decoded.
      if (bodyBytes < size || bodyBytes > size * 1.01)
        throw new Error(`Cannot compare: ${size} bytes are expected, ${bodyBytes} came`);
      cpu[side].push(cpuMs);
      return size / 1e6 / seconds;
    };
    await round('peer');
    await round('ours');
    const rounds: Rounds = await alternate(bench.quick ? 3 : 9, {
      ours: () => round('ours'),
      peer: () => round('peer'),
    });
    const used = (side: 'ours' | 'peer'): string => `${median(cpu[side].slice(1)).toFixed(0)} ms`;
    lines.push(atLeast(label, rounds, 'MB/s', target));
    lines.push(information('  CPU time of the server for it', used('ours'), used('peer')));
  }
  return lines;
}

/** The gateway compresses what a reader misses, after the reading. */
async function untilEncoded(bench: BenchContext, side: Side, accept: string): Promise<void> {
  for (const start = performance.now(); performance.now() - start < MAX_ENCODE_MS;) {
    const before = cpuOf(side.pid);
    const { cpuMs } = await readOnce(bench, side, accept);
    await sleep(2000, undefined, { signal: bench.signal });
    if (cpuOf(side.pid) - before < cpuMs / 1000 + 0.5) return;
  }
  throw new Error('The chunks are not compressed.');
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
  { url, pid }: Side,
  accept: string,
): Promise<{ seconds: number; cpuMs: number; bodyBytes: number }> {
  const before = cpuOf(pid);
  const output = await runCommand(bench, [
    process.execPath,
    ...(accept === 'identity' ? [READ_RESPONSE, url] : [FETCH_RESPONSE, url, accept]),
  ]);
  const result = parseJsonOutput(output);
  if (result.number('status') !== 200) throw new Error(`Cannot read ${url}: got ${output}`);
  return {
    seconds: result.number('seconds'),
    cpuMs: (cpuOf(pid) - before) * 1000,
    bodyBytes: result.number('bodyBytes'),
  };
}
