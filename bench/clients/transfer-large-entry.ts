/** Runs `large-entry.ts` in a process of its own. */
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand } from '../processes/child-process.ts';
import { parseJsonOutput } from '../processes/json-output.ts';

export interface Transfer {
  readonly location: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly seconds: number;
}

const LARGE_ENTRY = fileURLToPath(import.meta.resolve('./large-entry.ts'));

export async function transferLargeEntry(
  bench: BenchContext,
  args: readonly string[],
): Promise<Transfer> {
  const output = parseJsonOutput(await runCommand(bench, [process.execPath, LARGE_ENTRY, ...args]));
  return {
    location: output.text('location'),
    bytes: output.number('bytes'),
    sha256: output.text('sha256'),
    seconds: output.number('seconds'),
  };
}

/** Throws where what was read is not what was sent. */
export function assertSame(sent: Transfer, read: Transfer): void {
  if (read.sha256 !== sent.sha256 || read.bytes !== sent.bytes)
    throw new Error(
      `The entry changed: sent ${JSON.stringify(sent)}, read ${JSON.stringify(read)}`,
    );
}
