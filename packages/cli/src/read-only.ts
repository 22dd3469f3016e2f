/** `presence read-only`: switches the storing of entries off and on, beside a running gateway or on its folder. */
import { openOwnerAccess, READ_ONLY_PATH } from '@open-presence/gateway';
import { Argument, Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';
import { Output } from './visit/output.ts';

interface Options extends Pick<Configuration, 'data' | 'language'> {
  readonly reason?: string;
}

export function readOnlyCommand(context: ProcessContext): Command {
  const command = new Command('read-only')
    .description('store nothing for a while, and say why: reading, streams and presence go on')
    .addArgument(
      new Argument('[state]', 'without it, the present one is shown').choices(['on', 'off']),
    )
    .option('--reason <text>', 'why: everyone who is refused can read it')
    .addOption(settingOption(DATA_SETTING, 'data folder of the gateway'))
    .addOption(settingOption(LANGUAGE_SETTING));
  addGuide(command, {
    examples: [
      "presence read-only on --reason 'A flood is being cleared away'",
      'presence read-only off',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running on the folder: only the user who runs it can do this. It takes effect at once, and a restart keeps it. Whoever sends an entry is answered 503 with the reason, and can send it again later: clients, pages and the command keep what they have. Withholding works. In a cluster, this switches all gateways within seconds, those that start later too.',
  });
  return command.action(async (state: string | undefined, options: Options) => {
    const { data, language, reason } = options;
    let isOpen = false;
    const isUnexplained = state === 'on' && reason === undefined;
    try {
      if (isUnexplained) throw new Error('--reason says why, to everyone.');
      const { fileThreads } = context;
      await using access = await openOwnerAccess({ data, language, fileThreads });
      isOpen = true;
      const end = new AbortController();
      const body = {
        ...(state !== undefined && { to: state }),
        ...(reason !== undefined && { reason }),
      };
      for await (const { readOnly } of access.request(READ_ONLY_PATH, body, end.signal)) {
        const text =
          typeof readOnly === 'string' ? `Read-only: ${readOnly}` : 'Entries are stored.';
        await new Output(context, end.signal).write(`${text}\n`);
      }
    } catch (error) {
      const code = isOpen || isUnexplained ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `make "${data}" read-only`, error, code);
    }
  });
}
