/** `presence reload`: has a running gateway read its language file and texts again, or take another address. */
import { resolve } from 'node:path';

import { reloadGateway } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  PUBLIC_URL_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import { addOwnerOptions, type OwnerOptions } from './owner-command.ts';
import type { ProcessContext } from './process-context.ts';

type Options = OwnerOptions & Pick<Configuration, 'publicUrl'>;

export function reloadCommand(context: ProcessContext): Command {
  const command = new Command('reload');
  addOwnerOptions(command).addOption(settingOption(PUBLIC_URL_SETTING));
  addGuide(command, {
    examples: ['presence reload', 'presence reload --public-url https://presence.example'],
    exitCodes: [0, 1],
    notes:
      'Only the user who runs the gateway can do this. It reads the language file, and "privacy.md" and "terms.md" in the data folder, and answers later requests on all threads by them. What is not given stays as it is; no other setting can change without a restart. If a file has faults, nothing changes, and they are named.',
  });
  return command.action(async ({ data, language, publicUrl }: Options) => {
    try {
      const file = language === undefined ? {} : { language: resolve(language) };
      await reloadGateway(data, { ...file, publicUrl });
      context.stdout.write('Reloaded.\n');
    } catch (error) {
      fail(context, `reload the gateway of "${data}"`, error, EXIT_FAILED);
    }
  });
}
