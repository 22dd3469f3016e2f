/** `presence backup`: brings a verified backup of a log up to date. */
import { backUpLog, type BackupReport, type LogFault } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from '../configuration/configuration.ts';
import { EXIT_FAILED, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeEnd, reportEvents } from './backup-events.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly quick?: boolean;
  readonly json?: boolean;
}

export function backupCommand(context: ProcessContext): Command {
  const command = new Command('backup').argument(
    '<folder>',
    'folder of the backup; created if it does not exist',
    DATA_SETTING.parse,
  );
  addGuide(command, {
    examples: [
      'presence backup /mnt/backup --data ./presence-data',
      'presence backup /mnt/backup --quick',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'The folder becomes a data folder that has everything that was acknowledged before the start, and nothing of what was withheld. What it has already is not copied again. The backup counts once every entry was verified by its link and is flushed; an interruption loses nothing that it had. Where entries of the log itself have faults, they are named, and the exit code is 1. Older states are kept by snapshots of the folder, or by restic.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--quick', 'verify only what the backup did not have before')
    .option('--json', 'print one JSON object');
  return command.action(async (folder: string, { data, json = false, ...options }: Options) => {
    try {
      const events = backUpLog(data, folder, options);
      const { report, faults } = await reportEvents(events, { context, json });
      context.stdout.write(json ? jsonOf(report, faults) : textOf(report));
      if (report.faults > 0) context.setExitCode(EXIT_FAILED);
    } catch (error) {
      fail(context, `back up the log in "${data}"`, error);
    }
  });
}

function jsonOf(report: BackupReport, faults: readonly LogFault[]): string {
  return `${JSON.stringify({ ...report, faults })}\n`;
}

function textOf(report: BackupReport): string {
  const { folder, added, copied, replaced, isCopy } = report;
  const asCopy = isCopy ? ' It can be restored as a copy of the cluster’s log (--as-copy).' : '';
  const amounts = `Added: ${added.toLocaleString('en')}, with ${copied.toLocaleString('en')} bytes of large files.`;
  const again = replaced === 0 ? '' : ` Changed in the backup, and copied again: ${replaced}.`;
  return `${folder}\n${describeEnd(report)} ${amounts}${again}${asCopy}\n`;
}
