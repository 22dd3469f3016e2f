/** The reference of all commands in Markdown: `docs/command.md`. */
import { EXIT_CODES } from '../exit-codes.ts';
import type { CommandRow } from './command-table.ts';

export function commandReference({ program, commands }: Manual): string {
  const groups = Object.entries(Object.groupBy(commands, ({ group }) => group));
  const chapters = groups.map(([group, rows = []]) =>
    [`## ${group.replace(/:$/, '')}`, ...rows.map(commandSection)].join('\n\n'),
  );
  const codes = Object.entries(EXIT_CODES).map(([code, meaning]) => [code, meaning] as const);
  return `# The command \`${program}\`

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

function commandSection(command: CommandRow): string {
  const { name, usage, description, arguments: args, options, guide } = command;
  const terms = [
    ...args.map(({ term, description: about }) => [code(term), cell(about)] as const),
    ...options.map((option) => {
      const { flags, variable } = option;
      const about = cell(withDefault(option));
      return [code(flags), variable === undefined ? about : `${about}; \`${variable}\``] as const;
    }),
  ];
  const codes = guide.exitCodes.join(', ');
  return [
    `### ${name}`,
    [sentence(description), guide.notes].filter(Boolean).join(' '),
    `    ${usage}`,
    table(['', ''], terms),
    `Example${guide.examples.length === 1 ? '' : 's'} (exit codes ${codes}):`,
    guide.examples.map((example) => `    ${example}`).join('\n'),
  ].join('\n\n');
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

export interface Manual {
  readonly program: string;
  readonly description: string;
  readonly version: string;
  readonly commands: readonly CommandRow[];
}

function withDefault({ description, default: value }: CommandRow['options'][number]): string {
  const isTold = value === undefined || description.includes('default:');
  return isTold ? description : `${description} (default: ${value})`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
