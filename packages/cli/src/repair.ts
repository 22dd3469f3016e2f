/**
 * `presence repair`: makes idempotency keys find their entries again, and puts changed or lost entries
 * back from another folder with the log.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { type LogLine, readLogLines } from '@open-presence/client';
import { openFolderLog, repairLog } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from './configuration/configuration.ts';
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
      'presence repair --data ./presence-data',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running. An entry is taken only if it is what its link was made of, and the chain that is stored goes on from it.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--from <folder>', 'a folder that has the log too: a backup, or an import of it')
    .addOption(settingOption(LANGUAGE_SETTING));
  return command.action(async ({ data, from, language }: Options) => {
    const counts = { repaired: 0, lost: 0 };
    try {
      await using source = from === undefined ? undefined : openSource(from);
      const options = { folder: from, lineOf: source?.lineOf, language };
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
  /** The line of an entry, if the folder has it. Called with ascending seqs, once for each. */
  readonly lineOf: (seq: number) => Promise<LogLine | undefined>;
}

function openSource(folder: string): LineSource {
  // A folder without a log may still have files of large entries.
  if (!existsSync(join(folder, 'log.sqlite')))
    return { lineOf: async () => undefined, [Symbol.asyncDispose]: async () => {} };
  const log = openFolderLog(folder);
  let lines: AsyncGenerator<readonly LogLine[], void> | undefined;
  const end = async (): Promise<void> => {
    await lines?.return();
    lines = undefined;
  };
  return {
    async lineOf(seq) {
      await end();
      if (seq > log.head) return undefined;
      try {
        lines = (await readLogLines(linesAfter(log, { after: seq - 1, limit: 1 }))).batches;
        const step = await lines.next();
        const line = step.done === true ? undefined : step.value[0];
        return line?.seq === seq ? line : undefined;
      } catch {
        // The folder has lost the entry, too.
        return undefined;
      }
    },
    async [Symbol.asyncDispose]() {
      await end();
      log[Symbol.dispose]();
    },
  };
}
