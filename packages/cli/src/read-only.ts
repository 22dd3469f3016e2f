/** `presence read-only`: switches the storing of entries off and on, beside a running gateway or on its folder. */
import { READ_ONLY_PATH } from '@open-presence/gateway';
import { Argument, Command } from 'commander';

import { addGuide } from './command-guide.ts';
import { addOwnerOptions, askAsOwner, type OwnerOptions } from './owner-command.ts';
import type { ProcessContext } from './process-context.ts';

const NOT_STORED =
  'Not read-only, but no entries are stored: this is a mirror, or storing fails, and the log of the gateway says why.';

interface Options extends OwnerOptions {
  readonly reason?: string;
}

export function readOnlyCommand(context: ProcessContext): Command {
  const command = new Command('read-only')
    .addArgument(
      new Argument('[state]', 'without it, the present one is shown').choices(['on', 'off']),
    )
    .option('--reason <text>', 'why: everyone who is refused can read it');
  addGuide(addOwnerOptions(command), {
    examples: [
      "presence read-only on --reason 'A flood is being cleared away'",
      'presence read-only off',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running on the folder: only the user who runs it can do this. It takes effect at once, and a restart keeps it. Whoever sends an entry is answered 503 with the reason, and can send it again later: clients, pages and the command keep what they have. Withholding works. In a cluster, this switches all gateways within seconds, those that start later too.',
  });
  return command.action(async (state: string | undefined, options: Options) => {
    const { data, reason } = options;
    const isUnexplained = (state === 'on') !== (reason !== undefined);
    await askAsOwner(context, options, {
      what: `make "${data}" read-only`,
      refusal: isUnexplained
        ? '"on" alone needs --reason, which says why, to everyone.'
        : undefined,
      async ask(access) {
        const { signal } = new AbortController();
        const body = { ...(state && { to: state }), ...(reason !== undefined && { reason }) };
        for await (const { readOnly, stores } of access.request(READ_ONLY_PATH, body, signal)) {
          const otherwise = stores === false ? NOT_STORED : 'Entries are stored.';
          const text = typeof readOnly === 'string' ? `Read-only: ${readOnly}` : otherwise;
          context.stdout.write(`${text}\n`);
        }
      },
    });
  });
}
