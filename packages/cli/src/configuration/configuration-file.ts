/** Reads settings from a file such as `/etc/presence/presence.env`, with one NAME=VALUE on a line. */
import { readFile } from 'node:fs/promises';

import { type Command, InvalidArgumentError, Option } from 'commander';

import { reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { type Configuration, type Setting, SETTINGS } from './configuration.ts';
import { masked } from './masked.ts';

const BYTE_ORDER_MARK = /^\ufeff/;

/**
 * Gives the command `--config`. Flags and the environment override the file, and the file overrides defaults.
 * Refuses settings that exclude each other.
 */
export function addConfigOption(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--config <file>',
        'file of settings, one NAME=VALUE on a line; flags and the environment come before it',
      ).env('PRESENCE_CONFIG'),
    )
    .hook('preAction', async (_, action) => {
      const given = (await settingsInFile(action)).filter(([one]) => isUnset(action, one));
      const faults = given.flatMap(([setting, text]) => faultOf(setting, text, action) ?? []);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      for (const [setting, text] of given)
        action.setOptionValueWithSource(setting.name, setting.parse(text), 'config');
      const { mirror, log } = action.opts<Configuration>();
      if (mirror !== undefined && log !== undefined)
        throw new Error('A gateway of a cluster cannot be a mirror: leave out --mirror or --log.');
    });
}

interface UnknownName {
  /** A name, or a line without a value. Passwords are masked. */
  readonly name: string;
  readonly place: 'file of settings' | 'environment';
}

/** Variables of other commands, and of this option. */
const OTHERS = ['PRESENCE_CONFIG', 'PRESENCE_URL', 'PRESENCE_IDENTITY'];

/** What the file of `--config` has that is no setting, and variables of the environment that only look like settings. */
export async function unknownNames(
  command: Command,
  { variables }: Pick<ProcessContext, 'variables'>,
): Promise<readonly UnknownName[]> {
  const known = SETTINGS.map(({ variable }) => variable);
  const inFile = (await linesOf(command)).filter(({ name }) => !known.includes(name));
  const inEnvironment = variables.filter(
    (name) => name.startsWith('PRESENCE_') && ![...known, ...OTHERS].includes(name),
  );
  return [
    ...inFile.map(({ name }) => ({ name: masked(name), place: 'file of settings' as const })),
    ...inEnvironment.map((name) => ({ name, place: 'environment' as const })),
  ];
}

async function settingsInFile(command: Command): Promise<(readonly [Setting, string])[]> {
  const values = new Map((await linesOf(command)).map(({ name, value }) => [name, value]));
  return SETTINGS.flatMap((setting) => {
    const text = values.get(setting.variable);
    return text === undefined ? [] : [[setting, text] as const];
  });
}

interface Line {
  /** The whole line if it has no value. */
  readonly name: string;
  readonly value: string | undefined;
}

/** As systemd and Docker read them: "#" begins a comment at the start of a line alone. Quotes are removed, as by systemd. */
async function linesOf(command: Command): Promise<readonly Line[]> {
  const lines = (await textOf(fileOf(command))).split('\n').map((line) => line.trim());
  return lines
    .filter((line) => /^[^#;]/.test(line))
    .map((line) => {
      const [, name = line, value] = /^([^=]+?)\s*=\s*(.*)$/.exec(line) ?? [];
      return { name, value: value?.replace(/^(["'])(.*)\1$/, '$2') };
    });
}

function fileOf(command: Command): string | undefined {
  const file: unknown = command.getOptionValue('config');
  return typeof file === 'string' ? file : undefined;
}

async function textOf(file: string | undefined): Promise<string> {
  if (file === undefined) return '';
  try {
    return (await readFile(file, 'utf8')).replace(BYTE_ORDER_MARK, '');
  } catch (error) {
    throw new Error(`Cannot read the settings in "${file}": ${reasonOf(error)}`, { cause: error });
  }
}

function isUnset(command: Command, { name }: Setting): boolean {
  return [undefined, 'default'].includes(command.getOptionValueSource(name));
}

/** Says why the text cannot be used; undefined if it can. */
function faultOf({ parse, variable }: Setting, text: string, command: Command): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    // Other errors name the setting, and do not show a text that may hold a password.
    if (!(error instanceof InvalidArgumentError)) return reasonOf(error);
    return `Cannot use ${variable}=${text} of "${fileOf(command)}". ${error.message}`;
  }
}
