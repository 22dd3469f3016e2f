/** Prints manual pages (man(7)): one for the program, and one for each command. */
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CommandRow } from './command-table.ts';

export interface Manual {
  readonly program: string;
  readonly description: string;
  readonly version: string;
  readonly commands: readonly CommandRow[];
}

/** All pages, by the names of their files. */
export function manPages(manual: Manual): Map<string, string> {
  const { program, commands } = manual;
  const pages = commands.map(
    (command) => [`${program}-${command.name}.1`, commandPage(command, manual)] as const,
  );
  return new Map([[`${program}.1`, programPage(manual)], ...pages]);
}

function programPage(manual: Manual): string {
  const { program, description, commands } = manual;
  const groups = Object.entries(Object.groupBy(commands, ({ group }) => group));
  const codes: ExitCode[] = [0, 1, 2, 3];
  return page(program, description, manual, [
    section('SYNOPSIS', roff(`${program} <command> [options]`)),
    ...groups.map(([group, rows = []]) =>
      section(
        group.replace(/:$/, '').toUpperCase(),
        list(rows.map(({ name, description: about }) => [`${program}-${name}(1)`, about])),
      ),
    ),
    section('EXIT STATUS', exitStatus(codes)),
  ]);
}

function commandPage(command: CommandRow, manual: Manual): string {
  const { usage, description, arguments: args, options, guide } = command;
  const variables = options.flatMap(({ variable, flags }) =>
    variable === undefined ? [] : [[variable, `stands for ${flags}`] as const],
  );
  const examples = guide.examples.map((example) => `.nf\n${roff(example)}\n.fi`);
  const sections: readonly (readonly [string, string])[] = [
    ['SYNOPSIS', roff(usage)],
    ['DESCRIPTION', roff([sentence(description), guide.notes].filter(Boolean).join(' '))],
    ['ARGUMENTS', list(args.map(({ term, description: about }) => [term, about]))],
    ['OPTIONS', list(options.map((option) => [option.flags, withDefault(option)]))],
    ['ENVIRONMENT', list(variables)],
    ['EXAMPLES', examples.join('\n.PP\n')],
    ['EXIT STATUS', exitStatus(guide.exitCodes)],
    ['SEE ALSO', roff(`${manual.program}(1)`)],
  ];
  const filled = sections.filter(([, text]) => text !== '');
  const name = `${manual.program}-${command.name}`;
  return page(
    name,
    description,
    manual,
    filled.map(([title, text]) => section(title, text)),
  );
}

function page(
  name: string,
  description: string,
  { version }: Manual,
  sections: readonly string[],
): string {
  const title = `.TH ${name.toUpperCase()} 1 "" "presence ${version}" "Open Presence Gateway"`;
  const about = section('NAME', `${roff(name)} \\- ${roff(description)}`);
  return `${[title, about, ...sections].join('\n')}\n`;
}

function section(title: string, text: string): string {
  return `.SH ${title}\n${text}`;
}

function list(rows: readonly (readonly [term: string, text: string])[]): string {
  return rows.map(([term, text]) => `.TP\n${roff(term)}\n${roff(text)}`).join('\n');
}

function exitStatus(codes: readonly ExitCode[]): string {
  return list(codes.map((code) => [String(code), EXIT_CODES[code]]));
}

export function withDefault({
  description,
  default: value,
}: CommandRow['options'][number]): string {
  const isTold = value === undefined || description.includes('default:');
  return isTold ? description : `${description} (default: ${value})`;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Escapes a text so that troff prints it as it is. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);
  return escaped.replaceAll(/^(?=['.])/gm, String.raw`\&`);
}
