/**
 * Searches over a garden of a million in several languages, of words that hardly anybody and that
 * many said; how fast words are read, and what that costs those who speak meanwhile.
 */
import { mkdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bench } from '../bench.ts';
import { copiedFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { ask } from '../http.ts';
import { allKnown, knownOf } from '../known.ts';
import { load } from '../load.ts';
import { median, percentile, takeTurns } from '../rounds.ts';
import { beside, fact, mebibytes, type Line } from '../table.ts';
import { type TongueName, wordOf } from '../tongues.ts';

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

function three(tongue: TongueName): string {
  return [0, 1, 2].map((at) => wordOf(tongue, at)).join(' ');
}

export async function search(bench: Bench): Promise<Line[]> {
  const entries = bench.quick ? FEWER : ENTRIES;
  await using data = await copiedFolder(bench, entries, 'many');
  const found = await searching(bench, data.path, entries);
  return [...found, ...(await posting(bench, data.path, bench.quick ? 1 : 5))];
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
  for (const [what, words, how] of QUERIES) {
    bench.note(what);
    const question = new URLSearchParams(`${how}&limit=50`);
    question.set('q', words);
    lines.push(await asked(bench, what, `${gateway.url}/api/search?${question.toString()}`));
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
  const count = bench.quick ? 20 : 100;
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

/**
 * Speaking where no words are read: a folder stands in the place of their file, so that reading them
 * fails, and is tried anew each second. Beside it, speaking as it is, and while all are read anew.
 */
async function posting(bench: Bench, folder: string, seconds: number): Promise<Line[]> {
  const round = async (prepared: (url: string) => Promise<void>): Promise<number> => {
    await using gateway = await startGateway(bench, folder);
    await prepared(gateway.url);
    const plan = {
      url: `${gateway.url}/api/garden`,
      connections: CONNECTIONS,
      seconds,
      post: true,
    };
    return (await load(bench, plan)).perSecond;
  };
  const file = join(folder, 'search.sqlite');
  const aside = join(folder, 'aside.sqlite');
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
  const known = await takeTurns(rounds, {
    ours: () => round((url) => allKnown(bench, url)),
    peer: none,
  });
  bench.note('POST while all words are read anew, and without words');
  const behind = await takeTurns(rounds, {
    async ours() {
      await forget(folder);
      return await round(async () => {});
    },
    peer: none,
  });
  return [
    beside('durable POST with words, beside without', known, 'requests/s'),
    beside('durable POST while all are read anew, beside without', behind, 'requests/s'),
  ];
}
