/**
 * `presence repair`: makes idempotency keys find their entries again, and puts lost files of large
 * entries back from a copy of the data folder.
 */
import { repairLog } from '@open-presence/gateway';
import { Command } from 'commander';

import { type Configuration, DATA_SETTING, settingOption } from './configuration.ts';
import type { ProcessContext } from './process-context.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly from?: string;
}

const EXIT_NOT_REPAIRED = 1;
const EXIT_FAILED = 2;

export function repairCommand(context: ProcessContext): Command {
  const command = new Command('repair')
    .description('put right the idempotency keys, and lost files of large entries from a copy')
    .addHelpText(
      'after',
      `\nA gateway may be running. Takes only files whose bytes are those that were stored. Exits with 0 if all that was looked at is right, ${EXIT_NOT_REPAIRED} if some cannot, ${EXIT_FAILED} if there is no readable log or a file cannot be written.`,
    );
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--from <folder>', 'a copy or backup of the data folder, for lost files');
  return command.action(async ({ data, from }: Options) => {
    const counts = { repaired: 0, lost: 0 };
    try {
      for await (const { seq, fault, reason } of repairLog(data, from)) {
        const outcome = reason === undefined ? 'put back' : `not put back: ${reason}`;
        context.stdout.write(`Entry ${seq}: ${fault}; ${outcome}\n`);
        if (reason === undefined) counts.repaired += 1;
        else counts.lost += 1;
      }
      context.stdout.write(`${counts.repaired} put back, ${counts.lost} not.\n`);
      if (counts.lost > 0) context.setExitCode(EXIT_NOT_REPAIRED);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      context.stderr.write(`Cannot repair the log in "${data}": ${reason}\n`);
      context.setExitCode(EXIT_FAILED);
    }
  });
}
