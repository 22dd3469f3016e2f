/** `presence completion`: prints a script by which a shell completes the commands and their options. */
import { Argument, Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import type { ProcessContext } from '../process-context.ts';
import { type CommandRow, commandTable, type ValueForm } from './command-table.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function completionCommand({ stdout }: ProcessContext): Command {
  const command = new Command('completion')
    .description('print the completion for a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => {
      const { parent } = command;
      if (parent !== null) stdout.write(SHELLS[shell](commandTable(parent)));
    });
  return addGuide(command, {
    examples: [
      'presence completion bash > ~/.local/share/bash-completion/completions/presence',
      'presence completion zsh > ~/.zfunc/_presence',
      'presence completion fish > ~/.config/fish/completions/presence.fish',
    ],
    exitCodes: [0, 1],
    notes: 'For zsh, the folder of the file must be in fpath before compinit is called.',
  });
}

/** A script for bash 3.2 or later to source. */
export function bashCompletion(commands: readonly CommandRow[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `_presence() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local IFS=$' \\t\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${bashReply(names.split(' '))}
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${commands.flatMap(bashOptionCases).join('\n')}
  esac
  case "\${COMP_WORDS[1]} $current" in
${commands.flatMap(bashCommandCases).join('\n')}
  esac
}
complete -F _presence presence
`;
}

/** A case for each option that takes a value: completes the value. */
function bashOptionCases({ name, options }: CommandRow): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const patterns = names.map((flag) => `"${name} ${flag}"`).join('|');
    return [`    ${patterns}) ${bashReply(value.form)}; return ;;`];
  });
}

function bashCommandCases({ name, options, arguments: args }: CommandRow): string[] {
  const flags = options.flatMap(({ names }) => names);
  const [first] = args;
  return [
    `    "${name} -"*) ${bashReply(flags)} ;;`,
    ...(first === undefined ? [] : [`    "${name} "*) ${bashReply(first.form)} ;;`]),
  ];
}

function bashReply(form: ValueForm): string {
  if (form === 'free') return ':';
  if (typeof form === 'object')
    return `COMPREPLY=($(compgen -W "${form.join(' ')}" -- "$current"))`;
  const flag = form === 'folders' ? '-d' : '-f';
  return `IFS=$'\\n'; COMPREPLY=($(compgen ${flag} -- "$current")); compopt -o filenames 2>/dev/null`;
}

/** A script that zsh sources after `compinit`, or finds in its `fpath` as `_presence`. */
export function zshCompletion(commands: readonly CommandRow[]): string {
  const described = commands.map(
    ({ name, description }) => `    ${quoted(`${name}:${colonless(description)}`)}`,
  );
  return `#compdef presence
_presence() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(zshCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _presence ]; then _presence "$@"; else compdef _presence presence; fi
`;
}

function zshCase({ name, options, arguments: args }: CommandRow): string {
  const specs = [
    ...options.flatMap(zshSpecs),
    ...args.map(({ term, form }) => {
      const position = term.includes('...') ? '*' : '';
      return quoted(`${position}:${colonless(term)}:${zshAction(form)}`);
    }),
  ];
  return `    ${name}) _arguments ${specs.join(' ')} ;;`;
}

/** One spec for each name of the option. */
function zshSpecs({ names, description, value }: CommandRow['options'][number]): string[] {
  const about = `[${colonless(description).replaceAll(/[[\]]/g, String.raw`\$&`)}]`;
  const wanted = value === undefined ? '' : `:${colonless(value.name)}:${zshAction(value.form)}`;
  return names.map((flag) => quoted(`${flag}${about}${wanted}`));
}

function zshAction(form: ValueForm): string {
  if (form === 'free') return ' ';
  if (form === 'files') return '_files';
  return form === 'folders' ? '_files -/' : `(${form.join(' ')})`;
}

function colonless(text: string): string {
  return text.replaceAll(':', String.raw`\:`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A script for fish to load. */
export function fishCompletion(commands: readonly CommandRow[]): string {
  const lines = ['complete -c presence -f', ...commands.flatMap(fishLines)];
  return `${lines.join('\n')}\n`;
}

function fishLines({ name, description, options, arguments: args }: CommandRow): string[] {
  const within = `complete -c presence -n '__fish_seen_subcommand_from ${name}'`;
  const [first] = args;
  const values = first === undefined ? '' : fishValues(first.form);
  return [
    `complete -c presence -n __fish_use_subcommand -a ${name} -d ${fishQuoted(description)}`,
    ...(values.includes('-a') || values.includes('-F') ? [`${within} ${values}`] : []),
    ...options.map(({ names, description: about, value }) => {
      const flags = names.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const taken = value === undefined ? '' : ` -r ${fishValues(value.form)}`;
      return `${within} ${flags.join(' ')}${taken} -d ${fishQuoted(about)}`;
    }),
  ];
}

function fishValues(form: ValueForm): string {
  if (form === 'free') return '-f';
  if (form === 'files') return '-F';
  if (form === 'folders') return "-f -a '(__fish_complete_directories)'";
  return `-f -a ${fishQuoted(form.join(' '))}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
