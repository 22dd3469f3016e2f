/**
 * Searches over a garden of a million, of words that nearly nobody and that nearly everybody said;
 * how fast words are read, and what that costs those who speak meanwhile.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Bench } from '../bench.ts';
import { copiedFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { ask, headOf } from '../http.ts';
import { load } from '../load.ts';
import { median, percentile, takeTurns } from '../rounds.ts';
import { beside, fact, mebibytes, type Line } from '../table.ts';

const ENTRIES = 1_000_000;
const FEWER = 100_000;
const CONNECTIONS = 64;
const LOOK_MS = 20;

const QUERIES: readonly (readonly [what: string, path: string])[] = [
  ['a rare word, the best', '/api/search?q=4242'],
  ['a frequent word, the best', '/api/search?q=garden'],
  ['a frequent word, the newest', '/api/search?q=garden&order=newest'],
  ['three frequent words, the best', '/api/search?q=garden+dream+light'],
  ['a phrase, the best', '/api/search?q="left+and+garden"'],
  ['a beginning, the newest', '/api/search?q=424*&order=newest'],
  ['a frequent word of one visitor', '/api/garden?q=garden&identity=visitor-0042&limit=50'],
];

export async function search(bench: Bench): Promise<Line[]> {
  const entries = bench.quick ? FEWER : ENTRIES;
  await using data = await copiedFolder(bench, entries);
  const found = await searching(bench, data.path, entries);
  return [...found, await posting(bench, data.path, bench.quick ? 1 : 5)];
}

async function searching(bench: Bench, folder: string, entries: number): Promise<Line[]> {
  await forget(folder);
  await using gateway = await startGateway(bench, folder);
  bench.note('reading all words');
  const began = performance.now();
  const from = await knownOf(gateway.url);
  await allKnown(bench, gateway.url);
  const took = (performance.now() - began) / 1000;
  const { size } = await stat(join(folder, 'search.sqlite'));
  const lines = [
    fact(
      'words read anew',
      `${Math.round((entries - from) / took).toLocaleString('en')} entries/s`,
    ),
    fact('  search.sqlite', mebibytes(size), `${Math.round(size / entries)} bytes an entry`),
  ];
  for (const [what, path] of QUERIES) {
    bench.note(what);
    lines.push(await asked(bench, what, gateway.url + path));
  }
  return lines;
}

/** The words, so that they are read anew. */
async function forget(folder: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) {
    await rm(join(folder, `search.sqlite${end}`), { force: true });
  }
}

async function asked(bench: Bench, what: string, url: string): Promise<Line> {
  const count = bench.quick ? 20 : 200;
  const times: number[] = [];
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    // Each time another one, so that no answer is ready.
    const { status, text } = await ask(`${url}&n=${at}`);
    times.push(performance.now() - began);
    if (status !== 200)
      throw new Error(`Cannot search ${url}: got ${status} ${text.slice(0, 500)}`);
    found = text.match(/"seq":/g)?.length ?? 0;
  }
  if (found === 0) throw new Error(`Cannot trust the figures: ${url} found nothing`);
  const [middle, late] = [median(times), percentile(times, 0.99)];
  return fact(`  ${what}`, `${middle.toFixed(1)} ms, p99 ${late.toFixed(1)} ms`, `${found} given`);
}

/** Speaking while all words are read anew, beside speaking when they are known. */
async function posting(bench: Bench, folder: string, seconds: number): Promise<Line> {
  const round = async (url: string): Promise<number> => {
    const plan = { url: `${url}/api/garden`, connections: CONNECTIONS, seconds, post: true };
    return (await load(bench, plan)).perSecond;
  };
  const known = async (): Promise<number> => {
    await using gateway = await startGateway(bench, folder);
    await allKnown(bench, gateway.url);
    return await round(gateway.url);
  };
  const behind = async (): Promise<number> => {
    await forget(folder);
    await using gateway = await startGateway(bench, folder);
    return await round(gateway.url);
  };
  bench.note('POST while words are read, and when they are known');
  const rounds = await takeTurns(bench.quick ? 1 : 3, { ours: behind, peer: known });
  return beside('durable POST while words are read anew, beside none', rounds, 'requests/s');
}

async function allKnown(bench: Bench, url: string): Promise<void> {
  const head = await headOf(url);
  while ((await knownOf(url)) < head) await sleep(LOOK_MS, undefined, { signal: bench.signal });
}

async function knownOf(url: string): Promise<number> {
  const { text } = await ask(`${url}/api/search?q=a&limit=0`);
  return Number(/"known":(\d+)/.exec(text)?.[1] ?? 0);
}
