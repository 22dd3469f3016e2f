/** `presence compact`: gives the file system back what a log does not need. */
import { compactLog } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from './configuration/configuration.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

export function compactCommand(context: ProcessContext): Command {
  const command = new Command('compact');
  addGuide(command, {
    examples: ['presence compact --data ./presence-data'],
    exitCodes: [0, 1],
    notes:
      'No gateway may be running on the folder. Withheld texts, and words that were taken out of the index, leave room in the files, which the gateway uses again only in part. This writes "log.sqlite" and "index.sqlite" anew without it. It needs as much free space for a while as the larger of them takes twice. Interrupted, it has changed nothing.',
  });
  command.addOption(settingOption(DATA_SETTING, 'data folder of the log'));
  return command.action(({ data }: Pick<Configuration, 'data'>) => {
    try {
      const { before, after } = compactLog(data);
      const count = (bytes: number): string => bytes.toLocaleString('en');
      context.stdout.write(`${count(after)} bytes. Given back: ${count(before - after)}.\n`);
    } catch (error) {
      fail(context, `compact the log in "${data}"`, error, EXIT_FAILED);
    }
  });
}
