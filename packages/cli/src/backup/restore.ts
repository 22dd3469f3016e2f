/** `presence restore`: makes a data folder of a backup. */
import { restoreLog, RestoreRefusal, type RestoreReport } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from '../configuration/configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeEnd, reportEvents } from './backup-events.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly replace?: boolean;
  readonly acceptFaults?: boolean;
  readonly keepName?: boolean;
  readonly asCopy?: boolean;
  readonly json?: boolean;
}

export function restoreCommand(context: ProcessContext): Command {
  const command = new Command('restore')
    .description('make a data folder of a backup')
    .argument('<backup>', 'folder that `presence backup` has made');
  addGuide(command, {
    examples: [
      'presence restore /mnt/backup --data ./presence-data',
      'presence restore /mnt/backup --data /var/lib/presence --as-copy',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'No gateway may be running on the data folder. The log is verified where it was copied, before it takes its place. Without --as-copy or --keep-name, it gets a new name, by which readers notice that entries after its end may be gone. A gateway may also be started on the backup itself, which is no backup then.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder; created if it does not exist'))
    .option('--replace', 'move the log that the folder has to a folder `replaced-…` in it')
    .option(
      '--accept-faults',
      'restore what is there of a backup that has faults, has changed, or was interrupted',
    )
    .option('--keep-name', 'keep the name of the log: it has had no entries after this backup')
    .option(
      '--as-copy',
      'restore a copy of a cluster’s log, which a gateway that is started with --log brings up to date',
    )
    .option('--json', 'print one JSON object');
  return command.action(async (backup: string, { data, json = false, ...options }: Options) => {
    try {
      const events = restoreLog(backup, data, options);
      const { report } = await reportEvents(events, { context, json });
      context.stdout.write(json ? `${JSON.stringify(report)}\n` : textOf(report, options));
    } catch (error) {
      const code = error instanceof RestoreRefusal ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `restore "${backup}" into "${data}"`, error, code);
    }
  });
}

function textOf(report: RestoreReport, { asCopy = false }: Pick<Options, 'asCopy'>): string {
  const { backup, name, log, replaced } = report;
  const same = asCopy
    ? `The log is a copy of the cluster’s, ${name}: start its gateway with --log.`
    : `The log is ${name}, as before.`;
  const naming =
    name !== log
      ? `The log is now ${name}, before ${log}: readers begin anew, since entries after the end may be gone.`
      : same;
  const aside = replaced === undefined ? '' : `What was there is in ${replaced}\n`;
  return `${backup}\n${describeEnd(report)}\n${naming}\n${aside}`;
}
