/** `presence backup`: a verified backup of a log, beside those that a folder has. */
import {
  backUpLog,
  type BackupReport,
  type LogFault,
  parseRetention,
  type Retention,
} from '@open-presence/gateway';
import { Command, InvalidArgumentError, Option } from 'commander';

import { addGuide } from '../command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from '../configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeEnd, reportEvents } from './backup-events.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly keep?: Retention;
  readonly quick?: boolean;
  readonly json?: boolean;
}

export function backupCommand(context: ProcessContext): Command {
  const command = new Command('backup')
    .description('back up the log, beside a running gateway too')
    .argument('<folder>', 'folder with the backups; created if it does not exist');
  addGuide(command, {
    examples: [
      'presence backup /mnt/backup --data ./presence-data',
      'presence backup /mnt/backup --keep 24h,7d,4w,12m',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'Has everything that was acknowledged before it began. What an earlier backup has is not copied again. It counts once every entry was verified by its link and is flushed. Where entries of the log itself have faults, the backup has them too, and the exit code is 1.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .addOption(
      new Option(
        '--keep <rule>',
        'which backups to keep: the newest ones (7), or also the newest of each of the last hours, days, weeks and months (3,24h,7d,4w,12m); default: all',
      ).argParser(retentionFrom),
    )
    .option('--quick', 'verify only what no earlier backup has')
    .option('--json', 'print one JSON object');
  return command.action(async (folder: string, { data, json = false, ...options }: Options) => {
    const { stdout, stderr } = context;
    try {
      const events = backUpLog(data, folder, options);
      const { report, faults } = await reportEvents(events, { context, json });
      stdout.write(json ? jsonOf(report, faults) : textOf(report));
      if (report.faults > 0) context.setExitCode(EXIT_FAILED);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      stderr.write(`Cannot back up the log in "${data}": ${reason}\n`);
      context.setExitCode(EXIT_UNREACHABLE);
    }
  });
}

function retentionFrom(text: string): Retention {
  const retention = parseRetention(text);
  if (retention !== undefined) return retention;
  throw new InvalidArgumentError('It must be such as 7, 7d or 3,24h,7d,4w,12m.');
}

function jsonOf(report: BackupReport, faults: readonly LogFault[]): string {
  return `${JSON.stringify({ ...report, faults })}\n`;
}

function textOf(report: BackupReport): string {
  const { file, copied, reused, removed, stream } = report;
  const asCopy =
    stream === undefined ? '' : ' It can be restored as a copy of the cluster’s log (--as-copy).';
  const amounts = `${copied.toLocaleString('en')} bytes copied, ${reused.toLocaleString('en')} used again.`;
  const thinned = removed.length === 0 ? '' : ` ${removed.length} earlier ones removed.`;
  return `${file}\n${describeEnd(report)} ${amounts}${thinned}${asCopy}\n`;
}
