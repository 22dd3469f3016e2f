import type { CommandRow, ValueForm } from './command-table.ts';

/** A script for fish to load. */
export function fishCompletion(commands: readonly CommandRow[]): string {
  const lines = ['complete -c presence -f', ...commands.flatMap(commandLines)];
  return `${lines.join('\n')}\n`;
}

function commandLines({ name, description, options, arguments: args }: CommandRow): string[] {
  const within = `complete -c presence -n '__fish_seen_subcommand_from ${name}'`;
  const [first] = args;
  const values = first === undefined ? '' : valueFlags(first.form);
  return [
    `complete -c presence -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
    ...(values.includes('-a') || values.includes('-F') ? [`${within} ${values}`] : []),
    ...options.map(({ names, description: about, value }) => {
      const flags = names.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const taken = value === undefined ? '' : ` -r ${valueFlags(value.form)}`;
      return `${within} ${flags.join(' ')}${taken} -d ${quote(about)}`;
    }),
  ];
}

function valueFlags(form: ValueForm): string {
  if (form === 'free') return '-f';
  if (form === 'files') return '-F';
  if (form === 'folders') return "-f -a '(__fish_complete_directories)'";
  return `-f -a ${quote(form.join(' '))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
