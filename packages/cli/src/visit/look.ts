/** `presence who`, `rooms` and `search`. */
import { jsonText } from '@open-presence/client';
import { portableJson } from '@open-presence/protocol';
import { Command, Option } from 'commander';

import type { ProcessContext } from '../process-context.ts';
import { entryView, localTime } from './entry-view.ts';
import { safeLine } from '../safe-text.ts';
import { cut, table } from './terminal-text.ts';
import { addVisitorOptions, type Visit, visit, type VisitorOptions, wholeNumber } from './visit.ts';

const LONGEST_NAME = 32;
const TERMINAL_LIMIT = 10;

export function whoCommand(context: ProcessContext): Command {
  const command = new Command('who').option('--room <slug>', 'only in this room');
  addVisitorOptions(command, 'presence who');
  return command.action(async (options: VisitorOptions & { readonly room?: string }) => {
    await visit(context, options, (at) => showPresence(at, options.room));
  });
}

async function showPresence(at: Visit, room: string | undefined): Promise<void> {
  const { gateway, output, json, signal } = at;
  const presence = await gateway.presence({ room, signal });
  if (json || !output.isTerminal) return await output.write(`${portableJson(presence)}\n`);
  const { here, lately } = presence;
  const row = (visitor: Row, time: string): string[] => [
    cut(safeLine(visitor.identity), LONGEST_NAME),
    visitor.room ?? '',
    localTime(time),
    cut(safeLine(visitor.seeking.join(', ')), 60),
  ];
  const section = (title: string, rows: string[][]): string => {
    const head = output.style('bold', title);
    const body = rows.length === 0 ? 'nobody\n' : table(rows, output.width);
    return `${head}\n${body}`;
  };
  const now = here.map((visitor) => row(visitor, visitor.since));
  const before = lately.map((visitor) => row(visitor, visitor.lastSeen));
  await output.write(`${section('Here', now)}\n${section('Spoke lately', before)}`);
}

interface Row {
  readonly identity: string;
  readonly room: string | null;
  readonly seeking: readonly string[];
}

export function roomsCommand(context: ProcessContext): Command {
  const command = new Command('rooms');
  addVisitorOptions(command, 'presence rooms');
  return command.action(async (options: VisitorOptions) => {
    await visit(context, options, async ({ gateway, output, json, signal }) => {
      const rooms = await gateway.rooms({ signal });
      if (json || !output.isTerminal) return await output.write(`${portableJson({ rooms })}\n`);
      const rows = rooms.map(({ slug, entries, latest, title, description }) => [
        output.style('bold', slug),
        entries.toLocaleString('en'),
        latest === null ? '' : localTime(latest),
        safeLine(`${title}: ${description}`),
      ]);
      await output.write(table(rows, output.width));
    });
  });
}

interface SearchOptions extends VisitorOptions {
  readonly limit?: number;
  readonly order?: 'newest' | 'oldest';
}

export function searchCommand(context: ProcessContext): Command {
  const command = new Command('search')
    .argument('<words...>', 'words, "phrases", beginnings (quie*) and exclusions (-noise)')
    .option('--limit <count>', `at most this many (on a terminal: ${TERMINAL_LIMIT})`, wholeNumber)
    .addOption(new Option('--order <order>', 'sort by time').choices(['newest', 'oldest']));
  addVisitorOptions(command, "presence search 'shared mem*' -- -noise");
  return command.action(async (words: readonly string[], options: SearchOptions) => {
    await visit(context, options, (at) => find(at, words, options));
  });
}

async function find(
  { gateway, output, json, signal, notify }: Visit,
  words: readonly string[],
  { limit, order }: SearchOptions,
): Promise<void> {
  const isPretty = output.isTerminal && !json;
  const most = limit ?? (isPretty ? TERMINAL_LIMIT : undefined);
  let count = 0;
  for await (const result of gateway.search(words.join(' '), { limit: most, order, signal })) {
    count += 1;
    await output.write(isPretty ? entryView(result.entry, output) : `${jsonText(result)}\n`);
  }
  if (isPretty && count === 0) notify('Nothing was found.');
}
