/**
 * `presence repair`: makes idempotency keys find their entries again, and puts changed or lost entries
 * back from another copy of the log.
 */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { Gateway, type LogLine, PresenceError, readLogLines } from '@open-presence/client';
import { openFolderLog, repairLog } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { decompressed, readFileChunks } from './copy/compression.ts';
import { linesAfter } from './copy/log-source.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

interface Options extends Pick<Configuration, 'data' | 'language'> {
  readonly from?: string;
}

export function repairCommand(context: ProcessContext): Command {
  const command = new Command('repair').description(
    'put right the idempotency keys, and changed or lost entries from a copy',
  );
  addGuide(command, {
    examples: [
      'presence repair --data ./presence-data --from ./backup',
      'presence repair --data ./mirror --from https://presence.example',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running. An entry is taken only if it is what its link was made of, and the chain that is stored goes on from it.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option(
      '--from <place>',
      'who has the log too: a copy of the data folder, an export, or the address of a gateway',
    )
    .addOption(settingOption(LANGUAGE_SETTING));
  return command.action(async ({ data, from, language }: Options) => {
    const counts = { repaired: 0, lost: 0 };
    try {
      await using source = from === undefined ? undefined : await openLineSource(from);
      const lineOf = source && ((seq: number) => source.lineOf(seq));
      const options = { folder: source?.folder, lineOf, language };
      for await (const { seq, fault, reason } of repairLog(data, options)) {
        const outcome = reason === undefined ? 'put back' : `not put back: ${reason}`;
        const subject = seq === undefined ? '' : `Entry ${seq}: `;
        context.stdout.write(`${subject}${fault}; ${outcome}\n`);
        if (reason === undefined) counts.repaired += 1;
        else counts.lost += 1;
      }
      context.stdout.write(`${counts.repaired} put back, ${counts.lost} not.\n`);
      if (counts.lost > 0) context.setExitCode(EXIT_FAILED);
    } catch (error) {
      fail(context, `repair the log in "${data}"`, error);
    }
  });
}

interface LineSource extends AsyncDisposable {
  /** The data folder, if the source is one. */
  readonly folder: string | undefined;
  /** The line of an entry, if the source has it. Called with ascending seqs, once for each. */
  lineOf(seq: number): Promise<LogLine | undefined>;
}

/** `from`: an address, or the path of a data folder or of an export. */
async function openLineSource(from: string): Promise<LineSource> {
  if (/^https?:\/\//.test(from)) {
    const gateway = new Gateway(from);
    // Fails if nobody answers there, even if nothing has to be put back.
    await gateway.checkpoint();
    const bytesOf = (seq: number): AsyncIterable<Uint8Array> =>
      gateway.logBytes({ after: seq - 1, limit: 1 });
    return singleLines(bytesOf, undefined, () => {});
  }
  if (!(await stat(from)).isDirectory()) return await exportedLines(from);
  // A folder without a log may still have files of large entries.
  if (!existsSync(join(from, 'log.sqlite')))
    return { folder: from, lineOf: async () => undefined, [Symbol.asyncDispose]: async () => {} };
  const log = openFolderLog(from);
  const bytesOf = (seq: number): AsyncIterable<Uint8Array> =>
    seq > log.head ? Readable.from([]) : linesAfter(log, { after: seq - 1, limit: 1 });
  return singleLines(bytesOf, from, () => log[Symbol.dispose]());
}

/** Reads each line on its own, since few are wanted. */
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
        // The source does not have the entry.
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
