/**
 * All commands with their arguments and options as plain data, read from the commands themselves.
 * Completion, man pages and `docs/command.md` are printed from this table.
 */
import { KINDS } from '@open-presence/protocol';
import type { Argument, Command, Option } from 'commander';

import { type CommandGuide, guideOf } from '../command-guide.ts';

/** The possible values: these words, names of files or folders, or any text. */
export type ValueForm = readonly string[] | 'files' | 'folders' | 'free';

interface ArgumentRow {
  /** The argument in the usage: `<id>`, `[text]`, `<words...>`. */
  readonly term: string;
  readonly description: string;
  readonly form: ValueForm;
}

export interface OptionRow {
  /** Such as `-f, --file <path>`. */
  readonly flags: string;
  /** Such as `-f` and `--file`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value: { readonly name: string; readonly form: ValueForm } | undefined;
  /** The environment variable that sets the option. */
  readonly variable: string | undefined;
  readonly default: string | undefined;
}

export interface CommandRow {
  readonly name: string;
  /** Such as `Visit a gateway:`. */
  readonly group: string;
  readonly description: string;
  readonly usage: string;
  readonly arguments: readonly ArgumentRow[];
  readonly options: readonly OptionRow[];
  readonly guide: CommandGuide;
}

export function commandTable(program: Command): CommandRow[] {
  return program.commands.map((command) => commandRow(command, program.name()));
}

function commandRow(command: Command, program: string): CommandRow {
  const guide = guideOf(command);
  if (guide === undefined) throw new Error(`The command ${command.name()} has no guide.`);
  const help = command.createHelp();
  return {
    name: command.name(),
    group: command.helpGroup(),
    description: command.description(),
    usage: `${program} ${command.name()} ${command.usage()}`,
    arguments: command.registeredArguments.map(argumentRow),
    options: help.visibleOptions(command).map(optionRow),
    guide,
  };
}

function argumentRow(argument: Argument): ArgumentRow {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  const term = argument.required ? `<${name}>` : `[${name}]`;
  const { description } = argument;
  return { term, description, form: formOf(argument.name(), argument.argChoices) };
}

function optionRow(option: Option): OptionRow {
  const { flags, description, short, long, envVar, argChoices } = option;
  const [, name] = /[<[]([^>\]]+)/.exec(flags) ?? [];
  return {
    flags,
    names: [short, long].filter((flag) => flag !== undefined),
    description,
    value: name === undefined ? undefined : { name, form: formOf(name, argChoices) },
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
