/**
 * The benchmarks: runs the requested rows one after another, each beside its peer, and prints the
 * results. Measures the real command from outside; knows nothing of its implementation.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseOptions, USAGE, type BenchContext, type BenchOptions } from './options.ts';
import { terminateAll } from './processes/child-process.ts';
import { describeMachine } from './measure/machine.ts';
import { attack } from './rows/attack.ts';
import { cluster } from './rows/cluster.ts';
import { comingBack } from './rows/coming-back.ts';
import { copy } from './rows/copy.ts';
import { flush } from './rows/flush.ts';
import { growth } from './rows/growth.ts';
import { idle } from './rows/idle.ts';
import { lines } from './rows/lines.ts';
import { live } from './rows/live.ts';
import { memory } from './rows/memory.ts';
import { newest } from './rows/newest.ts';
import { post } from './rows/post.ts';
import { search } from './rows/search.ts';
import { stalled } from './rows/stalled.ts';
import { threads } from './rows/threads.ts';
import { whole } from './rows/whole.ts';
import { printTable, type ResultLine } from './measure/table.ts';
import { installTools } from './processes/external-tools.ts';

const ROWS: ReadonlyMap<string, (bench: BenchContext) => Promise<ResultLine[]>> = new Map([
  ['post', post],
  ['lines', lines],
  ['flush', flush],
  ['newest', newest],
  ['coming-back', comingBack],
  ['whole', whole],
  ['live', live],
  ['stalled', stalled],
  ['threads', threads],
  ['search', search],
  ['memory', memory],
  ['idle', idle],
  ['copy', copy],
  ['cluster', cluster],
  ['attack', attack],
  ['growth', growth],
]);
/** They take minutes, and gigabytes of disk. */
const ONLY_WHEN_FULL: readonly string[] = ['cluster', 'attack', 'growth'];
const RESULTS = join(import.meta.dirname, 'results');

const options = readOptions();
if (options?.help === true) console.log(USAGE);
else if (options !== undefined) await main(options);

/** Prints unusable arguments to stderr and returns undefined. */
function readOptions(): BenchOptions | undefined {
  try {
    const options = parseOptions(process.argv.slice(2));
    const unknown = options.rows.find((row) => !ROWS.has(row));
    if (unknown === undefined) return options;
    throw new TypeError(`Unknown row "${unknown}"`);
  } catch (error) {
    console.error(`${String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function main(options: BenchOptions): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.exitCode = 130;
      interruption.abort();
      terminateAll();
    });
  }
  const { quick, full, minutes, scratch } = options;
  const note = (text: string): void => console.error(`… ${text}`);
  const { signal } = interruption;
  const bench: BenchContext = { quick, full, minutes, scratch, signal, note };
  await mkdir(scratch, { recursive: true });
  const facts = await describeMachine(bench);
  await installTools(bench);
  const lines = await runRows(bench, options);
  if (lines.length === 0) return;
  console.log(`${facts}\n\n${printTable(lines)}`);
  await mkdir(RESULTS, { recursive: true });
  const file = join(RESULTS, `${new Date().toISOString().replaceAll(':', '-')}.json`);
  await writeFile(file, JSON.stringify({ facts, lines }, undefined, 2));
}

/** A failing row does not stop the others. */
async function runRows(bench: BenchContext, options: BenchOptions): Promise<ResultLine[]> {
  const rows = [...ROWS].filter(([name]) =>
    options.rows.length > 0
      ? options.rows.includes(name)
      : options.full || !ONLY_WHEN_FULL.includes(name),
  );
  const lines: ResultLine[] = [];
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
