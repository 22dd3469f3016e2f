/**
 * Searches of rare and frequent words among a million garden entries in several languages; the speed
 * of indexing, and its effect on POST.
 */
import { mkdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { BenchContext } from '../options.ts';
import { copiedFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { sendRequest } from '../clients/http.ts';
import { waitUntilIndexed, searchWatermark } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { median, percentile, alternate } from '../measure/rounds.ts';
import { ratioOnly, information, mebibytes, type ResultLine } from '../measure/table.ts';
import { type LanguageName, wordOf } from '../data/multilingual-entries.ts';

const ENTRIES = 1_000_000;
const FEWER = 100_000;
const CONNECTIONS = 64;

const QUERIES: readonly (readonly [what: string, words: string, how: string])[] = [
  ['a word of one entry', '42424', ''],
  ['a rare word, English', wordOf('english', 20_000), ''],
  ['a word of every 200th, Ukrainian', wordOf('ukrainian', 100), ''],
  ['a word of every 4th, English', wordOf('english', 0), ''],
  ['a word of every 4th, English, the newest 50', wordOf('english', 0), 'order=newest'],
  ['a word of every 4th, Ukrainian', wordOf('ukrainian', 0), ''],
  ['a word of every 4th, Arabic', wordOf('arabic', 0), ''],
  ['a sign of every 4th, Chinese', wordOf('chinese', 0), ''],
  ['three frequent words, Ukrainian', three('ukrainian'), ''],
  ['a phrase of three signs, Chinese', [0, 1, 3].map((at) => wordOf('chinese', at)).join(''), ''],
  ['a beginning of every 5th, the newest 50', `${wordOf('ukrainian', 6)}*`, 'order=newest'],
  ['a word of every 4th, of one visitor', wordOf('english', 0), 'identity=visitor-0042'],
];

function three(language: LanguageName): string {
  return [0, 1, 2].map((at) => wordOf(language, at)).join(' ');
}

export async function search(bench: BenchContext): Promise<ResultLine[]> {
  const entries = bench.quick ? FEWER : ENTRIES;
  await using data = await copiedFolder(bench, entries, 'many');
  const found = await measureSearch(bench, data.path, entries);
  return [...found, ...(await measurePosting(bench, data.path, bench.quick ? 1 : 5))];
}

async function measureSearch(
  bench: BenchContext,
  folder: string,
  entries: number,
): Promise<ResultLine[]> {
  await deleteIndex(folder);
  await using gateway = await startGateway(bench, folder);
  bench.note('reading all words');
  const startedAt = performance.now();
  const from = await searchWatermark(gateway.url);
  await waitUntilIndexed(bench, gateway.url);
  const took = (performance.now() - startedAt) / 1000;
  const { size } = await stat(join(folder, 'index.sqlite'));
  const lines = [
    information(
      'words read anew',
      `${Math.round((entries - from) / took).toLocaleString('en')} entries/s`,
    ),
    information('  index', mebibytes(size), `${Math.round(size / entries)} bytes an entry`),
  ];
  for (const [what, words, how] of QUERIES) {
    bench.note(what);
    const query = new URLSearchParams(`${how}&limit=50`);
    query.set('q', words);
    lines.push(await measureQuery(bench, what, `${gateway.url}/api/search?${query.toString()}`));
  }
  return lines;
}

/** Makes the gateway index all entries again. */
async function deleteIndex(folder: string): Promise<void> {
  await rm(join(folder, 'index.sqlite'), { force: true });
}

async function measureQuery(bench: BenchContext, what: string, url: string): Promise<ResultLine> {
  const count = bench.quick ? 20 : 100;
  const times: number[] = [];
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    const startedAt = performance.now();
    // Different each time, so that no response is cached.
    const { status, text } = await sendRequest(`${url}&n=${at}`);
    times.push(performance.now() - startedAt);
    if (status !== 200)
      throw new Error(`Cannot search ${url}: got ${status} ${text.slice(0, 500)}`);
    found = text.match(/"seq":/g)?.length ?? 0;
  }
  if (found === 0) throw new Error(`Cannot trust the figures: ${url} found nothing`);
  const [middle, late] = [median(times), percentile(times, 0.99)];
  return information(
    `  ${what}`,
    `${middle.toFixed(1)} ms, p99 ${late.toFixed(1)} ms`,
    `${found} given`,
  );
}

/**
 * POST without indexing, beside POST as usual and POST while all entries are indexed again. Indexing
 * is prevented by a folder in the place of the index; the gateway retries each second.
 */
async function measurePosting(
  bench: BenchContext,
  folder: string,
  seconds: number,
): Promise<ResultLine[]> {
  const round = async (prepared: (url: string) => Promise<void>): Promise<number> => {
    await using gateway = await startGateway(bench, folder);
    await prepared(gateway.url);
    const plan = {
      url: `${gateway.url}/api/garden`,
      connections: CONNECTIONS,
      seconds,
      sendBy: 'POST' as const,
    };
    return (await runWrk(bench, plan)).perSecond;
  };
  const file = join(folder, 'index.sqlite');
  const aside = join(folder, 'aside');
  const none = async (): Promise<number> => {
    await rename(file, aside);
    await mkdir(file);
    const rate = await round(async () => {});
    await rmdir(file);
    await rename(aside, file);
    return rate;
  };
  const rounds = bench.quick ? 1 : 3;
  bench.note('POST as it is, and without words');
  const known = await alternate(rounds, {
    ours: () => round((url) => waitUntilIndexed(bench, url)),
    peer: none,
  });
  bench.note('POST while all words are read anew, and without words');
  const behind = await alternate(rounds, {
    async ours() {
      await deleteIndex(folder);
      return await round(async () => {});
    },
    peer: none,
  });
  return [
    ratioOnly('durable POST with words, beside without', known, 'requests/s'),
    ratioOnly('durable POST while all are read anew, beside without', behind, 'requests/s'),
  ];
}
