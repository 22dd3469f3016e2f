/**
 * The benchmarks: runs the rows asked for, one after another, each beside its peer, and prints what
 * they found. Measures the real command from outside, and knows nothing of how it works.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { readWish, USAGE, type Bench, type Wish } from './bench.ts';
import { endAll } from './children.ts';
import { machineFacts } from './machine.ts';
import { growth } from './rows/growth.ts';
import { live } from './rows/live.ts';
import { memory } from './rows/memory.ts';
import { newest } from './rows/newest.ts';
import { post } from './rows/post.ts';
import { search } from './rows/search.ts';
import { stalled } from './rows/stalled.ts';
import { threads } from './rows/threads.ts';
import { whole } from './rows/whole.ts';
import { printTable, type Line } from './table.ts';
import { bringTools } from './tools.ts';

const ROWS: ReadonlyMap<string, (bench: Bench) => Promise<Line[]>> = new Map([
  ['post', post],
  ['newest', newest],
  ['whole', whole],
  ['live', live],
  ['stalled', stalled],
  ['threads', threads],
  ['search', search],
  ['memory', memory],
  ['growth', growth],
]);
/** Needs minutes and gigabytes. */
const ONLY_WHEN_ASKED = 'growth';
const RESULTS = join(import.meta.dirname, 'results');

const wish = understood();
if (wish?.help === true) console.log(USAGE);
else if (wish !== undefined) await main(wish);

/** Undefined, with a word on stderr, where it can't be understood. */
function understood(): Wish | undefined {
  try {
    const wish = readWish(process.argv.slice(2));
    const unknown = wish.rows.find((row) => !ROWS.has(row));
    if (unknown === undefined) return wish;
    throw new TypeError(`Unknown row "${unknown}"`);
  } catch (error) {
    console.error(`${String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function main(wish: Wish): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.exitCode = 130;
      interruption.abort();
      endAll();
    });
  }
  const { quick, scratch } = wish;
  const note = (text: string): void => console.error(`… ${text}`);
  const bench: Bench = { quick, scratch, signal: interruption.signal, note };
  await mkdir(scratch, { recursive: true });
  const facts = await machineFacts(bench);
  await bringTools(bench);
  const lines = await runRows(bench, wish);
  if (lines.length === 0) return;
  console.log(`${facts}\n\n${printTable(lines)}`);
  await mkdir(RESULTS, { recursive: true });
  const file = join(RESULTS, `${new Date().toISOString().replaceAll(':', '-')}.json`);
  await writeFile(file, JSON.stringify({ facts, lines }, undefined, 2));
}

/** A row that fails doesn't keep the others from running. */
async function runRows(bench: Bench, wish: Wish): Promise<Line[]> {
  const rows = [...ROWS].filter(([name]) =>
    wish.rows.length > 0 ? wish.rows.includes(name) : wish.full || name !== ONLY_WHEN_ASKED,
  );
  const lines: Line[] = [];
  for (const [name, row] of rows) {
    if (bench.signal.aborted) break;
    bench.note(`row ${name}`);
    try {
      lines.push(...(await row(bench)));
    } catch (error) {
      process.exitCode ||= 1;
      if (!bench.signal.aborted) console.error(`Row ${name} failed:`, error);
    }
  }
  return lines;
}
