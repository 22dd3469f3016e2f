/** Gives single lines of a log that somebody else has: a gateway, a folder or an export. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { Gateway, type LogLine, PresenceError, readLogLines } from '@open-presence/client';
import { type FolderLog, openFolderLog } from '@open-presence/gateway';

import { decompressed, readFileChunks } from './compression.ts';

export interface LineSource extends AsyncDisposable {
  /** Set if it is a data folder. */
  readonly folder: string | undefined;
  /** Called for ascending seqs, once for each. */
  lineOf(seq: number): Promise<LogLine | undefined>;
}

/** `from`: an address, or the path of a data folder or of an export. */
export async function openLineSource(from: string): Promise<LineSource> {
  if (/^https?:\/\//.test(from)) {
    const gateway = new Gateway(from);
    const bytesOf = (seq: number): AsyncIterable<Uint8Array> =>
      gateway.logBytes({ after: seq - 1, limit: 1 });
    return singleLines(bytesOf, undefined, () => {});
  }
  if (!(await stat(from)).isDirectory()) return await exportedLines(from);
  const log = openedLog(from);
  if (log === undefined)
    return { folder: from, lineOf: async () => undefined, [Symbol.asyncDispose]: async () => {} };
  const bytesOf = async function* (seq: number): AsyncGenerator<Uint8Array, void> {
    const after = seq - 1;
    if (after >= log.head) return;
    yield Buffer.from(
      `${JSON.stringify({ log: log.name, head: after, link: log.linkAt(after) })}\n`,
    );
    yield* log.readChain({ after, limit: 1 });
  };
  return singleLines(bytesOf, from, () => log[Symbol.dispose]());
}

/** Undefined where the folder has files of large entries at most. */
function openedLog(folder: string): FolderLog | undefined {
  return existsSync(join(folder, 'log.sqlite')) ? openFolderLog(folder) : undefined;
}

/** A request for each line: few are wanted. */
function singleLines(
  bytesOf: (seq: number) => AsyncIterable<Uint8Array>,
  folder: string | undefined,
  close: () => void,
): LineSource {
  let current: AsyncGenerator<readonly LogLine[], void> | undefined;
  const end = async (): Promise<void> => {
    await current?.return();
    current = undefined;
  };
  return {
    folder,
    async lineOf(seq) {
      await end();
      try {
        current = (await readLogLines(bytesOf(seq))).batches;
        const step = await current.next();
        const line = step.done === true ? undefined : step.value[0];
        return line?.seq === seq ? line : undefined;
      } catch (error) {
        if (error instanceof PresenceError && error.code === 'unreachable') throw error;
        // It does not have the entry.
        return undefined;
      }
    },
    async [Symbol.asyncDispose]() {
      await end();
      close();
    },
  };
}

async function exportedLines(file: string): Promise<LineSource> {
  const { batches } = await readLogLines(decompressed(readFileChunks(file)));
  let batch: readonly LogLine[] = [];
  return {
    folder: undefined,
    async lineOf(seq) {
      for (;;) {
        const line = batch.find((candidate) => candidate.seq >= seq);
        if (line !== undefined) return line.seq === seq ? line : undefined;
        const step = await batches.next();
        if (step.done === true) return undefined;
        batch = step.value;
      }
    },
    async [Symbol.asyncDispose]() {
      await batches.return();
    },
  };
}
