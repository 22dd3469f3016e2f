/** `presence import`: makes a data folder from an export, or continues the copy that it has. */
import { stat } from 'node:fs/promises';

import { CopyRefusal, NotALog, openLogCopy, readLogLines } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from '../configuration/configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { decompressed, readFileChunks } from './compression.ts';
import { entryCount, ProgressBar } from './progress-bar.ts';

type Options = Pick<Configuration, 'data' | 'language'>;

export function importCommand(context: ProcessContext): Command {
  const command = new Command('import').argument(
    '<file>',
    'the export, compressed or not; - for standard input',
  );
  addGuide(command, {
    examples: [
      'presence import log.ndjson.zst --data ./copy',
      'curl https://presence.example/api/log | presence import - --data ./copy',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'Keeps ids, order, times, salts, links and the name of the log. Takes an entry only if its link follows from the entry before. Skips what the folder has: an import that was interrupted is run again. No gateway may be running on the folder.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the copy; created if it does not exist'))
    .addOption(settingOption(LANGUAGE_SETTING));
  return command.action(async (file: string, options: Options) => {
    try {
      const { head, added } = await importFile(context, file, options);
      context.stdout.write(`${entryCount(added)} imported. The log ends with entry ${head}.\n`);
    } catch (error) {
      const isRefused = error instanceof CopyRefusal || error instanceof NotALog;
      const code = isRefused ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `import "${file}" into "${options.data}"`, error, code);
    }
  });
}

interface Imported {
  readonly head: number;
  readonly added: number;
}

async function importFile(
  context: ProcessContext,
  file: string,
  { data, language }: Options,
): Promise<Imported> {
  using progress = new ProgressBar(context);
  const size = file === '-' ? undefined : (await stat(file)).size;
  let read = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    const chunks: AsyncIterable<Buffer> = file === '-' ? context.stdin : readFileChunks(file);
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  }
  const { checkpoint, batches } = await readLogLines(decompressed(counted()));
  const { fileThreads } = context;
  await using copy = await openLogCopy({ data, name: checkpoint.log, language, fileThreads });
  const before = copy.head();
  copy.entries.assertContinues(checkpoint);
  try {
    for await (const batch of batches) {
      await copy.entries.add(batch);
      progress.show(copy.head(), size && read / size);
    }
  } finally {
    // The entries before a line that breaks off are good.
    await copy.entries.flush();
  }
  return { head: copy.head(), added: copy.head() - before };
}
