/**
 * `presence repair`: makes idempotency keys find their entries again, and puts entries back that are
 * not what was stored, from whoever else has them.
 */
import { repairLog } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { openLineSource } from './copy/line-source.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

interface Options extends Pick<Configuration, 'data' | 'language'> {
  readonly from?: string;
}

export function repairCommand(context: ProcessContext): Command {
  const command = new Command('repair').description(
    'put right the idempotency keys, and changed or lost entries from a copy',
  );
  addGuide(command, {
    examples: [
      'presence repair --data ./presence-data --from ./backup',
      'presence repair --data ./mirror --from https://presence.example',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running. An entry is taken only if it is what its link was made of, and the chain that is stored goes on from it.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option(
      '--from <place>',
      'who has the log too: a copy of the data folder, an export, or the address of a gateway',
    )
    .addOption(settingOption(LANGUAGE_SETTING));
  return command.action(async ({ data, from, language }: Options) => {
    const counts = { repaired: 0, lost: 0 };
    try {
      await using source = from === undefined ? undefined : await openLineSource(from);
      const lineOf = source && ((seq: number) => source.lineOf(seq));
      const options = { folder: source?.folder, lineOf, language };
      for await (const { seq, fault, reason } of repairLog(data, options)) {
        const outcome = reason === undefined ? 'put back' : `not put back: ${reason}`;
        const subject = seq === undefined ? '' : `Entry ${seq}: `;
        context.stdout.write(`${subject}${fault}; ${outcome}\n`);
        if (reason === undefined) counts.repaired += 1;
        else counts.lost += 1;
      }
      context.stdout.write(`${counts.repaired} put back, ${counts.lost} not.\n`);
      if (counts.lost > 0) context.setExitCode(EXIT_FAILED);
    } catch (error) {
      fail(context, `repair the log in "${data}"`, error);
    }
  });
}
