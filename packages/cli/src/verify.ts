/** `presence verify`: checks that a whole log, and the files derived from it, are as they were written. */
import {
  type DerivedFault,
  verifyDerived,
  type VerifyEvent,
  verifyLog,
  type VerifyResult,
} from '@open-presence/gateway';

import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  refuseData,
  settingOption,
} from './configuration/configuration.ts';
import { entryCount, ProgressBar } from './copy/progress-bar.ts';
import { EXIT_DERIVED_FAULTS, EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly json?: boolean;
}

export function verifyCommand(context: ProcessContext): Command {
  const command = new Command('verify');
  addGuide(command, {
    examples: ['presence verify --data ./presence-data', 'presence verify /mnt/backup'],
    exitCodes: [0, 1, 2, 3],
    notes:
      'A gateway may be running. "presence import" verifies the log of a gateway elsewhere, and an export.',
  });
  command
    .argument('[source]', 'backup or other data folder')
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--json', 'print one JSON object');
  return command.action(async (source: string | undefined, options: Options) => {
    const { json = false } = options;
    if (source !== undefined) refuseData(command, source);
    const folder = source ?? options.data;
    const report = json ? jsonReport(context) : textReport(context);
    try {
      const exitCode = await verify(folder, report);
      if (exitCode > 0) context.setExitCode(exitCode);
    } catch (error) {
      fail(context, `verify the log in "${folder}"`, error);
    }
  });
}

interface Report {
  event(event: VerifyEvent): void;
  logEnd(result: VerifyResult): void;
  derivedFault(fault: DerivedFault): void;
  end(): void;
}

/** Returns the exit code. */
async function verify(data: string, report: Report): Promise<number> {
  const verification = verifyLog(data);
  let step = await verification.next();
  for (; step.done !== true; step = await verification.next()) report.event(step.value);
  const { faults } = step.value;
  report.logEnd(step.value);
  let derivedFaults = 0;
  for await (const fault of verifyDerived(data)) {
    derivedFaults += 1;
    report.derivedFault(fault);
  }
  report.end();
  if (faults > 0) return EXIT_FAILED;
  return derivedFaults > 0 ? EXIT_DERIVED_FAULTS : 0;
}

/** Shows progress on standard error if it is a terminal. */
function textReport(context: ProcessContext): Report {
  const progress = new ProgressBar(context);
  const print = (text: string): void => void context.stdout.write(`${text}\n`);
  return {
    event(event) {
      if (event.type === 'progress')
        return progress.show(event.at, event.at / Math.max(1, event.head));
      progress.clear();
      const { seq, description } = event;
      print(`${seq === undefined ? 'The log' : `Entry ${formatCount(seq)}`}: ${description}`);
    },
    logEnd({ entries, bytes, faults, withheld, link }) {
      progress.clear();
      const amount = `${entryCount(entries)}, ${formatBytes(bytes)}`;
      const state =
        faults === 0 ? 'unbroken' : `${formatCount(faults)} fault${faults === 1 ? '' : 's'}`;
      const taken = withheld === 0 ? '' : ` Withheld: ${formatCount(withheld)}.`;
      const last = entries === 0 ? '' : ` Last link ${link}`;
      print(`${amount}, ${state}.${taken}${last}`);
    },
    derivedFault({ file, description }) {
      print(
        `${file}: ${description}; remove it while no gateway runs, and the next start makes it again from the log`,
      );
    },
    end() {},
  };
}

/** Writes one JSON object piece by piece: there may be many faults. */
function jsonReport({ stdout }: ProcessContext): Report {
  let separator = '{"faults":[';
  const printElement = (element: object): void => {
    stdout.write(separator + JSON.stringify(element));
    separator = ',';
  };
  return {
    event(event) {
      if (event.type === 'progress') return;
      printElement({ seq: event.seq ?? null, what: event.description });
    },
    logEnd({ faults, ...rest }) {
      const opening = faults === 0 ? separator : '';
      stdout.write(`${opening}],${JSON.stringify(rest).slice(1, -1)},"derived":[`);
      separator = '';
    },
    derivedFault({ file, description }) {
      printElement({ file, what: description });
    },
    end() {
      stdout.write(']}\n');
    },
  };
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}

function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let at = 0;
  let amount = bytes;
  for (; amount >= 1000 && at < units.length - 1; at += 1) amount /= 1000;
  return `${at === 0 ? amount : amount.toFixed(1)} ${units[at]}`;
}
