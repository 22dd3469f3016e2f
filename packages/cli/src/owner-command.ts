/** What the commands share by which an owner asks for something, beside a running gateway or on its folder. */
import { openOwnerAccess, type OwnerAccess } from '@open-presence/gateway';
import type { Command } from 'commander';

import {
  type Configuration,
  DATA_SETTING,
  LANGUAGE_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, type ExitCode, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

export type OwnerOptions = Pick<Configuration, 'data' | 'language'>;

export function addOwnerOptions(command: Command): Command {
  return command
    .addOption(settingOption(DATA_SETTING, 'data folder of the gateway'))
    .addOption(settingOption(LANGUAGE_SETTING));
}

interface OwnerTask {
  /** What the command does, for its errors. */
  readonly what: string;
  /** Why it is not done at all, if its options are not enough. */
  readonly refusal: string | undefined;
  readonly ask: (access: OwnerAccess) => Promise<void>;
}

export async function askAsOwner(
  context: ProcessContext,
  { data, language }: OwnerOptions,
  { what, refusal, ask }: OwnerTask,
): Promise<void> {
  const { fileThreads } = context;
  let code: ExitCode = EXIT_FAILED;
  try {
    if (refusal !== undefined) throw new Error(refusal);
    code = EXIT_UNREACHABLE;
    await using access = await openOwnerAccess({ data, language, fileThreads });
    code = EXIT_FAILED;
    await ask(access);
  } catch (error) {
    fail(context, what, error, code);
  }
}
