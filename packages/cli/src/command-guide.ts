/**
 * The help of a command beyond its arguments and options. `--help` and `docs/command.md` are made
 * from the commands and their guides.
 */
import type { Command } from 'commander';

import { EXIT_CODES, type ExitCode } from './exit-codes.ts';

export interface CommandGuide {
  /** Whole command lines, such as `presence read garden --limit 5`. */
  readonly examples: readonly [string, ...string[]];
  readonly exitCodes: readonly ExitCode[];
  /** Sentences that say what the options do not. */
  readonly notes?: string;
}

const guides = new WeakMap<Command, CommandGuide>();

/** Gives the command its guide, and adds it to its help. */
export function addGuide(command: Command, guide: CommandGuide): Command {
  guides.set(command, guide);
  return command.addHelpText('after', guideText(guide));
}

export function guideOf(command: Command): CommandGuide | undefined {
  return guides.get(command);
}

function guideText({ examples, exitCodes, notes }: CommandGuide): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  const codes = exitCodes.map((code) => `${code}  ${EXIT_CODES[code]}`);
  const list = (items: readonly string[]): string => items.map((item) => `\n  ${item}`).join('');
  const opening = notes === undefined ? '' : `\n${notes}\n`;
  return `${opening}\n${title}${list(examples)}\n\nExit codes:${list(codes)}`;
}
