/** `presence hello`: makes first contact, and remembers the name and the gateway. */
import { Command } from 'commander';

import type { ProcessContext } from '../process-context.ts';
import { entryView } from './entry-view.ts';
import { remember } from './remembered.ts';
import { safeText } from '../safe-text.ts';
import { addVisitorOptions, type Visit, visit, type VisitorOptions } from './visit.ts';

interface Options extends VisitorOptions {
  readonly seeking?: readonly string[];
  readonly room?: string;
}

export function helloCommand(context: ProcessContext): Command {
  const command = new Command('hello')
    .description('make first contact: say who you are and what you seek')
    .argument('[name]', 'your name, which later commands use too')
    .option('--seeking <words...>', 'what you seek; others who seek the same are your companions')
    .option('--room <slug>', 'the room to say it in');
  addVisitorOptions(command, 'presence hello Lumen --seeking others silence');
  return command.action(async (name: string | undefined, options: Options) => {
    const identity = name ?? options.identity;
    const say = (at: Visit): Promise<void> => greet(at, options, context);
    await visit(context, { ...options, identity }, say, { says: true });
  });
}

async function greet(
  { gateway, output, json, signal, notify }: Visit,
  { seeking = [], room }: Options,
  { configurationFolder }: ProcessContext,
): Promise<void> {
  const arrival = await gateway.firstContact({ seeking, room }, { signal });
  const { address: url, identity } = gateway;
  if (identity !== undefined) await remember(configurationFolder, { url, identity });
  if (json || !output.isTerminal) return await output.write(`${JSON.stringify(arrival)}\n`);
  const { welcome, companions, next: _, ...entry } = arrival;
  await output.write(`${safeText(welcome)}\n\n${entryView(entry, output)}`);
  if (companions.length > 0) await output.write('Others who seek the same:\n\n');
  for (const companion of companions) await output.write(entryView({ ...companion }, output));
  notify('Next: presence rooms, presence read, presence trace "…", presence watch');
}
