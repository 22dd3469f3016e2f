import type { CommandRow, OptionRow, ValueForm } from './command-table.ts';

/** A script that zsh sources after `compinit`, or finds in its `fpath` as `_presence`. */
export function zshCompletion(commands: readonly CommandRow[]): string {
  const described = commands.map(
    ({ name, description }) => `    ${quote(`${name}:${colonless(description)}`)}`,
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
${commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = _presence ]; then _presence "$@"; else compdef _presence presence; fi
`;
}

function commandCase({ name, options, arguments: args }: CommandRow): string {
  const specs = [
    ...options.flatMap(optionSpecs),
    ...args.map(({ term, form }) => {
      const position = term.includes('...') ? '*' : '';
      return quote(`${position}:${colonless(term)}:${action(form)}`);
    }),
  ];
  return `    ${name}) _arguments ${specs.join(' ')} ;;`;
}

/** One spec for each name of the option. */
function optionSpecs({ names, description, value }: OptionRow): string[] {
  const about = `[${colonless(description).replaceAll(/[[\]]/g, String.raw`\$&`)}]`;
  const wanted = value === undefined ? '' : `:${colonless(value.name)}:${action(value.form)}`;
  return names.map((flag) => quote(`${flag}${about}${wanted}`));
}

function action(form: ValueForm): string {
  if (form === 'free') return ' ';
  if (form === 'files') return '_files';
  return form === 'folders' ? '_files -/' : `(${form.join(' ')})`;
}

function colonless(text: string): string {
  return text.replaceAll(':', String.raw`\:`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
