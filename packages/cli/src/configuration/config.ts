/** `presence config`: which settings are in force for `serve`, and where each comes from. */
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { addConfigOption, unknownNames } from './configuration-file.ts';
import { type Configuration, settingOption, SETTINGS, withoutPasswords } from './configuration.ts';
import { describeListen, listenAddress } from './listen-setting.ts';
import type { ProcessContext } from '../process-context.ts';

const SOURCES: Readonly<Record<string, string>> = {
  cli: 'flag',
  env: 'environment',
  config: 'file',
  default: 'default',
};

interface SettingInForce {
  /** `--port`. */
  readonly flag: string;
  readonly variable: string;
  /** Null where it is not set, and has no default. */
  readonly value: unknown;
  readonly source: string | null;
}

export function configCommand(context: ProcessContext): Command {
  const command = new Command('config').description(
    'show the settings of serve that are in force, and where each comes from',
  );
  for (const setting of SETTINGS) command.addOption(settingOption(setting));
  addConfigOption(command).option('--json', 'write JSON');
  addGuide(command, {
    examples: [
      'presence config --config /etc/presence/presence.env',
      'presence config --port 8080 --json',
    ],
    exitCodes: [0, 1],
    notes: 'Takes what serve takes, and starts nothing. Fails where serve would refuse a setting.',
  });
  return command.action(async (options: Configuration & { readonly json?: boolean }) => {
    const settings = SETTINGS.map(({ flag, variable, name }): SettingInForce => {
      const source = command.getOptionValueSource(name);
      const set: unknown = command.getOptionValue(name) ?? null;
      const value = typeof set === 'string' ? withoutPasswords(set) : set;
      const [long = flag] = flag.split(' ');
      return {
        flag: long,
        variable,
        value,
        source: value === null ? null : (SOURCES[source ?? ''] ?? null),
      };
    });
    const listens = describeListen(listenAddress(options, context.passedSockets));
    const unknown = await unknownNames(command);
    context.stdout.write(
      options.json === true
        ? `${JSON.stringify({ settings, listens, unknown })}\n`
        : text(settings, listens, unknown),
    );
  });
}

function text(
  settings: readonly SettingInForce[],
  listens: string,
  unknown: readonly string[],
): string {
  const rows = settings.map(({ flag, variable, value, source }) => [
    flag,
    variable,
    source ?? 'not set',
    value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const warnings = unknown.map((name) => `The file has ${name}, which is no setting.`);
  return `${[...lines, '', `Listens on ${listens}`, ...warnings].join('\n')}\n`;
}
