/** `presence backup`: makes a backup of a log. */
import { backUpLog, type BackupReport, type LogFault } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from '../configuration/configuration.ts';
import { EXIT_FAILED, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeEnd, reportEvents } from './backup-events.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly json?: boolean;
}

export function backupCommand(context: ProcessContext): Command {
  const command = new Command('backup').argument(
    '<folder>',
    'folder of the backup; created if it does not exist',
    DATA_SETTING.parse,
  );
  addGuide(command, {
    examples: ['presence backup /mnt/backup --data ./presence-data'],
    exitCodes: [0, 1, 2],
    notes:
      'The folder becomes a data folder that has everything that was acknowledged before the start, and nothing of what was withheld. The log is copied as a whole and takes the place of the earlier one at the end: until then, an interruption changes nothing. Large files are copied once. "presence verify" verifies the backup. Where the file of a large entry is lost, the entry is named, and the exit code is 1. Older states are kept by snapshots of the folder, or by restic.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--json', 'print one JSON object');
  return command.action(async (folder: string, { data, json = false }: Options) => {
    try {
      const events = backUpLog(data, folder);
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
  const { folder, copied, isCopy } = report;
  const asCopy = isCopy ? ' It can be restored as a copy of the cluster’s log (--as-copy).' : '';
  const amount = `Large files copied: ${copied.toLocaleString('en')} bytes.`;
  return `${folder}\n${describeEnd(report)} ${amount}${asCopy}\n`;
}
