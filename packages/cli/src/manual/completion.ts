/** `presence completion`: prints a script by which a shell completes the commands and their options. */
import { Argument, Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import type { ProcessContext } from '../process-context.ts';
import { bashCompletion } from './bash-completion.ts';
import { commandTable } from './command-table.ts';
import { fishCompletion } from './fish-completion.ts';
import { zshCompletion } from './zsh-completion.ts';

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
