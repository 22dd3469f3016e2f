/** `presence config`: shows the settings in force for `serve`, where each comes from, and what follows from them. */
import { resolve } from 'node:path';

import { isShareable } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { addConfigOption, unknownNames } from './configuration-file.ts';
import {
  READ_ONLY_OPTION,
  type Configuration,
  type Setting,
  settingOption,
  SETTINGS,
} from './configuration.ts';
import { describeListen, listenAddress } from './listen-setting.ts';
import { masked } from './masked.ts';
import type { ProcessContext } from '../process-context.ts';
import { describeThreads } from '../serve/start-report.ts';
import { table } from '../visit/terminal-text.ts';

const SOURCES: Readonly<Record<string, string>> = {
  cli: 'flag',
  env: 'environment',
  config: 'file',
  default: 'default',
};

interface SettingInForce {
  /** Such as `--listen`. */
  readonly flag: string;
  readonly variable: string;
  /** Null if it is not set and has no default. */
  readonly value: unknown;
  readonly source: string | null;
}

export function configCommand(context: ProcessContext): Command {
  const command = new Command('config');
  for (const setting of SETTINGS) command.addOption(settingOption(setting));
  addConfigOption(command.addOption(READ_ONLY_OPTION)).option('--json', 'write JSON');
  addGuide(command, {
    examples: [
      'presence config --config /etc/presence/presence.env',
      'presence config --listen 127.0.0.1:8080 --json',
    ],
    exitCodes: [0, 1],
    notes: 'Takes what serve takes, and starts nothing. Fails where serve would refuse a setting.',
  });
  return command.action(async (options: Configuration & { readonly json?: boolean }) => {
    const isTold = ({ name, isFormer }: Setting): boolean =>
      isFormer !== true || command.getOptionValueSource(name) !== 'default';
    const settings = SETTINGS.filter(isTold).map(({ flag, variable, name }): SettingInForce => {
      const source = command.getOptionValueSource(name);
      const set: unknown = command.getOptionValue(name) ?? null;
      const value = typeof set === 'string' ? masked(set) : set;
      const [long = flag] = flag.split(' ');
      const inWords = value === null ? null : (SOURCES[source ?? ''] ?? null);
      return { flag: long, variable, value, source: inWords };
    });
    const listen = listenAddress(options, context.passedSockets);
    const canShareAddress = isShareable(listen);
    const threads = canShareAddress ? options.threads : 1;
    const inForce = { listens: describeListen(listen), stores: resolve(options.data), threads };
    const unknown = await unknownNames(command, context);
    context.stdout.write(
      options.json === true
        ? `${JSON.stringify({ settings, ...inForce, unknown: unknown.map(({ name }) => name) })}\n`
        : text(settings, [
            `Listens on ${inForce.listens}`,
            `Stores in ${inForce.stores}`,
            `Serves with ${describeThreads({ threads, canShareAddress })}`,
            ...unknown.map(({ name, place }) => `The ${place} has ${name}, which is no setting.`),
          ]),
    );
  });
}

function text(settings: readonly SettingInForce[], conclusions: readonly string[]): string {
  const rows = settings.map(({ flag, variable, value, source }) => [
    flag,
    variable,
    source ?? 'not set',
    value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const lines = table(rows, Number.POSITIVE_INFINITY).replaceAll(/ +$/gm, '');
  return `${[lines, ...conclusions].join('\n')}\n`;
}
