/** The options of a run, and the context that its rows share. */
import { parseArgs } from 'node:util';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface BenchContext {
  readonly quick: boolean;
  /** Whether rows take the largest sizes too. */
  readonly full: boolean;
  /** How long the row `attack` lasts. */
  readonly minutes: number;
  /** Folder for data. Seeded logs stay for the next run; everything else is removed. */
  readonly scratch: string;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Reports progress on stderr. */
  note(text: string): void;
}

export interface BenchOptions {
  readonly rows: readonly string[];
  readonly quick: boolean;
  readonly minutes: number;
  readonly full: boolean;
  readonly help: boolean;
  readonly scratch: string;
}

export const USAGE = `npm run bench -- [row …] [--quick] [--full] [--minutes N] [--scratch DIR]

  row        post, lines, flush, newest, whole, live, stalled, threads, search, memory, idle, copy, cluster, attack, growth; without any: all but the last three
  --quick    short rounds, smaller sizes: shows that it works, the figures mean nothing
  --full     all rows
  --minutes  how long attack lasts (default: 10)
  --scratch  where data goes; seeded logs stay there for the next run
             (default: presence-bench in the folder for temporary files)`;

export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
      scratch: { type: 'string', default: join(tmpdir(), 'presence-bench') },
    },
  });
  return {
    ...values,
    minutes: Number(values.minutes),
    scratch: resolve(values.scratch),
    rows: positionals,
  };
}
