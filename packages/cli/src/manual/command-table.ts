/**
 * All commands with their arguments and options as plain data, read from the commands themselves.
 * Completion, man pages and `docs/command.md` are printed from this table.
 */
import { KINDS } from '@open-presence/protocol';
import type { Argument, Command, Option } from 'commander';

import { guideOf } from '../command-guide.ts';

/** The possible values: these words, names of files or folders, or any text. */
export type ValueForm = readonly string[] | 'files' | 'folders' | 'free';

export type CommandRow = ReturnType<typeof commandRow>;

export function commandTable(program: Command): CommandRow[] {
  return program.commands.map((command) => commandRow(command, program.name()));
}

function commandRow(command: Command, program: string) {
  const guide = guideOf(command);
  if (guide === undefined) throw new Error(`The command ${command.name()} has no guide.`);
  return {
    name: command.name(),
    /** Such as `Visit a gateway:`. */
    group: command.helpGroup(),
    description: command.description(),
    usage: `${program} ${command.name()} ${command.usage()}`,
    arguments: command.registeredArguments.map(argumentRow),
    options: command.createHelp().visibleOptions(command).map(optionRow),
    guide,
  };
}

function argumentRow(argument: Argument) {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return {
    /** The argument in the usage: `<id>`, `[text]`, `<words...>`. */
    term: argument.required ? `<${name}>` : `[${name}]`,
    description: argument.description,
    form: formOf(argument.name(), argument.argChoices),
  };
}

function optionRow(option: Option) {
  const { flags, description, short, long, envVar, argChoices } = option;
  const [, name] = /[<[]([^>\]]+)/.exec(flags) ?? [];
  return {
    /** Such as `-f, --file <path>`. */
    flags,
    /** Such as `-f` and `--file`. */
    names: [short, long].filter((flag) => flag !== undefined),
    description,
    /** Undefined if the option takes no value. */
    value: name === undefined ? undefined : { name, form: formOf(name, argChoices) },
    /** The environment variable that sets the option. */
    variable: envVar,
    default: defaultText(option.defaultValue),
  };
}

function defaultText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return value instanceof URL ? value.href : undefined;
}

function formOf(name: string, choices: readonly string[] | undefined): ValueForm {
  if (choices !== undefined) return choices;
  // It may also be the slug of a room, but only the gateway knows the rooms.
  if (name === 'where') return KINDS;
  if (name.includes('folder')) return 'folders';
  return /file|path/.test(name) ? 'files' : 'free';
}
