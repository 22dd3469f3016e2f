/** `presence accept`: answers what a start has asked about a log, once. */
import { acceptLog, type LogDoubt } from '@open-presence/gateway';
import { Argument, Command } from 'commander';

import { addGuide } from './command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from './configuration/configuration.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

export function acceptCommand(context: ProcessContext): Command {
  const command = new Command('accept');
  addGuide(command, {
    examples: [
      'presence accept loss --data ./presence-data',
      'presence accept clock --data ./presence-data',
    ],
    exitCodes: [0, 1],
    notes:
      'For a start that was refused, whose error names this command. No gateway may be running on the folder. After loss, the log goes on with what is there, under a new name. After clock, the time of this machine counts as right.',
  });
  command
    .addArgument(
      new Argument('<what>', 'that entries are lost, or that the clock is right').choices([
        'loss',
        'clock',
      ]),
    )
    .addOption(settingOption(DATA_SETTING, 'data folder'));
  return command.action((what: LogDoubt, { data }: Pick<Configuration, 'data'>) => {
    try {
      const done = acceptLog(data, what) ?? 'There was nothing to accept.';
      context.stdout.write(`${done} Start the gateway.\n`);
    } catch (error) {
      fail(context, `accept the ${what} for the log in "${data}"`, error, EXIT_FAILED);
    }
  });
}
