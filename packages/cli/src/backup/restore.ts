/** `presence restore`: makes a data folder from a backup, and withholds again what was withheld since. */
import { restoreLog, RestoreRefusal, type RestoreReport } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from '../configuration/configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeEnd, reportEvents } from './backup-events.ts';
import { casesOf, missingCases, repeatCases, type RepeatedCases } from './withheld-since.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly replace?: boolean;
  readonly acceptFaults?: boolean;
  readonly keepName?: boolean;
  readonly asCopy?: boolean;
  readonly withheld?: string;
  readonly json?: boolean;
}

export function restoreCommand(context: ProcessContext): Command {
  const command = new Command('restore').argument(
    '<backup>',
    'folder that `presence backup` has made',
  );
  addGuide(command, {
    examples: [
      'presence restore /mnt/backup --data ./presence-data',
      'presence restore /mnt/backup --data /var/lib/presence --as-copy',
      'presence restore /mnt/backup --data ./presence-data --withheld https://mirror.example',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'No gateway may be running on the data folder. The log is verified where it was copied, before it takes its place. Without --as-copy or --keep-name, it gets a new name, by which readers notice that entries after its end may be gone. A gateway may also be started on the backup itself, which is no backup then.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder; created if it does not exist'))
    .option('--replace', 'move the log that the folder has to a folder `replaced-…` in it')
    .option('--accept-faults', 'restore what is there of a backup that has faults')
    .option('--keep-name', 'keep the name of the log: it has had no entries after this backup')
    .option(
      '--as-copy',
      'restore a copy of a cluster’s log, which a gateway that is started with --log brings up to date',
    )
    .option(
      '--withheld <source>',
      'withhold, hide and show again what was since the backup: the address of a gateway or a mirror that has the log, a file with its /api/withheld, or a data folder',
    )
    .option('--json', 'print one JSON object');
  return command.action(async (backup: string, { data, json = false, ...options }: Options) => {
    try {
      const { withheld, asCopy } = options;
      if (withheld !== undefined && asCopy === true)
        throw new RestoreRefusal(
          'A copy of a cluster’s log learns from the cluster what is withheld.',
        );
      // Before anything is changed: without them, what was withheld would be there again.
      const cases = withheld === undefined ? undefined : await casesOf(withheld);
      const { report } = await reportEvents(restoreLog(backup, data, options), { context, json });
      const since =
        cases === undefined
          ? { missing: await missingCases(data, report.replaced) }
          : await repeatCases(data, report.name, cases);
      // A copy learns from its cluster what was withheld since.
      const told = asCopy === true ? '' : textOfCases(since);
      const text = (): string => `${textOf(report, options)}${told}`;
      context.stdout.write(json ? `${JSON.stringify({ ...report, ...since })}\n` : text());
    } catch (error) {
      const code = error instanceof RestoreRefusal ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `restore "${backup}" into "${data}"`, error, code);
    }
  });
}

function textOfCases({ missing, repeated, unknown }: RepeatedCases): string {
  if (repeated !== undefined)
    return `What was withheld, hidden or shown since: ${repeated} cases.${unknown ? ` ${unknown} are of entries that the backup lacks.` : ''}\n`;
  if (missing === undefined)
    return 'It is unknown what was withheld since the backup: --withheld repeats that, from a mirror, a file, or another folder.\n';
  return missing === 0
    ? 'What the log before had withheld or hidden is so here.\n'
    : `${missing} entries that the log before had withheld or hidden, or shown again, are otherwise here: restore with --withheld, from the folder with what was there, and --replace.\n`;
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
