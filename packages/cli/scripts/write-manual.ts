/** Writes `docs/command.md` from the commands. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Command, Option } from 'commander';

import manifest from '../package.json' with { type: 'json' };
import { guideOf } from '../src/command-guide.ts';
import { EXIT_CODES } from '../src/exit-codes.ts';
import { createProgram } from '../src/program.ts';
import { unusedContext } from './unused-context.ts';

const program = await createProgram(unusedContext(), manifest.version);
writeFileSync(join(import.meta.dirname, '../../../docs/command.md'), commandReference());

function commandReference(): string {
  const groups = Object.entries(Object.groupBy(program.commands, (command) => command.helpGroup()));
  const chapters = groups.map(([group, commands = []]) =>
    [`## ${group.replace(/:$/, '')}`, ...commands.map(commandSection)].join('\n\n'),
  );
  const codes = Object.entries(EXIT_CODES).map(([code, meaning]) => [code, meaning] as const);
  return `# The command \`${program.name()}\`

Printed from the commands by \`node packages/cli/scripts/write-manual.ts\`.

${chapters.join('\n\n')}

## Proxies

Requests to other machines go through the proxies that \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\` name, on
Node.js 25.4 or later; an earlier one needs \`NODE_USE_ENV_PROXY=1\` beside them. Requests to this machine
(localhost, 127.0.0.1, ::1) go through none; with an earlier Node.js, name it in \`NO_PROXY\`.

## Exit codes

${table(['code', 'means'], codes)}
`;
}

function commandSection(command: Command): string {
  const guide = guideOf(command);
  if (guide === undefined) throw new Error(`The command ${command.name()} has no guide.`);
  const { examples, exitCodes, notes } = guide;
  const terms = [
    ...command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      const term = argument.required ? `<${name}>` : `[${name}]`;
      return [code(term), cell(argument.description)] as const;
    }),
    ...command.createHelp().visibleOptions(command).map(optionRow),
  ];
  return [
    `### ${command.name()}`,
    [sentence(command.description()), notes].filter(Boolean).join(' '),
    `    ${program.name()} ${command.name()} ${command.usage()}`,
    table(['', ''], terms),
    `Example${examples.length === 1 ? '' : 's'} (exit codes ${exitCodes.join(', ')}):`,
    examples.map((example) => `    ${example}`).join('\n'),
  ].join('\n\n');
}

function optionRow({ flags, description, defaultValue, envVar }: Option): [string, string] {
  const value = defaultText(defaultValue);
  const isTold = value === undefined || description.includes('default:');
  const about = cell(isTold ? description : `${description} (default: ${value})`);
  return [code(flags), envVar === undefined ? about : `${about}; \`${envVar}\``];
}

function defaultText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return value instanceof URL ? value.href : undefined;
}

function table(
  [left, right]: readonly [string, string],
  rows: readonly (readonly [string, string])[],
): string {
  const lines = rows.map(([first, second]) => `| ${first} | ${second} |`);
  return [`| ${left} | ${right} |`, '|---|---|', ...lines].join('\n');
}

function code(text: string): string {
  return `\`${text.replaceAll('|', String.raw`\|`)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
