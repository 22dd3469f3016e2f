import type { CommandRow, ValueForm } from './command-table.ts';

/** A script for bash 3.2 or later to source. */
export function bashCompletion(commands: readonly CommandRow[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `_presence() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local IFS=$' \\t\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${reply(names.split(' '))}
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${commands.flatMap(optionCases).join('\n')}
  esac
  case "\${COMP_WORDS[1]} $current" in
${commands.flatMap(commandCases).join('\n')}
  esac
}
complete -F _presence presence
`;
}

/** A case for each option that takes a value: completes the value. */
function optionCases({ name, options }: CommandRow): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const patterns = names.map((flag) => `"${name} ${flag}"`).join('|');
    return [`    ${patterns}) ${reply(value.form)}; return ;;`];
  });
}

function commandCases({ name, options, arguments: args }: CommandRow): string[] {
  const flags = options.flatMap(({ names }) => names);
  const [first] = args;
  return [
    `    "${name} -"*) ${reply(flags)} ;;`,
    ...(first === undefined ? [] : [`    "${name} "*) ${reply(first.form)} ;;`]),
  ];
}

function reply(form: ValueForm): string {
  if (form === 'free') return ':';
  if (typeof form === 'object')
    return `COMPREPLY=($(compgen -W "${form.join(' ')}" -- "$current"))`;
  const flag = form === 'folders' ? '-d' : '-f';
  return `IFS=$'\\n'; COMPREPLY=($(compgen ${flag} -- "$current")); compopt -o filenames 2>/dev/null`;
}
