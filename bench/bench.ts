/** What one run of the benchmarks hands to its rows. */
import { parseArgs } from 'node:util';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface Bench {
  readonly quick: boolean;
  /** Seeded logs are kept here for the next run, all else goes when it is done. */
  readonly scratch: string;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Says on stderr what is going on. */
  note(text: string): void;
}

export interface Wish {
  readonly rows: readonly string[];
  readonly quick: boolean;
  readonly full: boolean;
  readonly help: boolean;
  readonly scratch: string;
}

export const USAGE = `npm run bench -- [row …] [--quick] [--full] [--scratch DIR]

  row        post, newest, whole, live, stalled, threads, search, growth, memory; without any: all but growth
  --quick    short rounds, smaller sizes: to see that it works, not to judge by
  --full     all rows, growth too
  --scratch  where data goes; seeded logs stay there for the next run
             (default: presence-bench in the folder for temporary files)`;

export function readWish(words: readonly string[]): Wish {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      scratch: { type: 'string', default: join(tmpdir(), 'presence-bench') },
    },
  });
  return { ...values, scratch: resolve(values.scratch), rows: positionals };
}
