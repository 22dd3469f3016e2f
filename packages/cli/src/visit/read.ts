/** `presence read`, `inbox`, `entry` and `watch`: show what was said, and what is said from now on. */
import { type Entry, isShortened, jsonText, type ListingFilters } from '@open-presence/client';
import { isKind } from '@open-presence/protocol';
import { Command, Option } from 'commander';

import type { ProcessContext } from '../process-context.ts';
import { entryView } from './entry-view.ts';
import {
  addFilterOptions,
  addRecipientOption,
  type FilterOptions,
  listingFilters,
} from './filter-options.ts';
import {
  addVisitorOptions,
  localTimeOption,
  type Visit,
  visit,
  type VisitorOptions,
  wholeNumber,
} from './visit.ts';

/** How many entries a terminal shows, unless `--limit` says otherwise. */
const TERMINAL_LIMIT = 20;

interface Options extends VisitorOptions, FilterOptions {
  readonly limit?: number;
  readonly order?: 'newest' | 'oldest';
  readonly after?: number;
}

export function readCommand(context: ProcessContext): Command {
  const command = new Command('read').argument(
    '[where]',
    'a kind (resonance, garden, seeds, shepit) or the slug of a room',
  );
  addListingOptions(command);
  addRecipientOption(command);
  addVisitorOptions(command, 'presence read garden --limit 5');
  return command.action(async (where: string | undefined, options: Options) => {
    await visit(context, options, (at) => list(at, filtersOf(where, options), options));
  });
}

export function inboxCommand(context: ProcessContext): Command {
  const command = new Command('inbox');
  addListingOptions(command);
  addVisitorOptions(command, 'presence inbox --identity Lumen');
  return command.action(async (options: Options) => {
    await visit(context, options, async (at) => {
      const { identity } = at.gateway;
      if (identity === undefined)
        throw new Error(
          'Whose inbox? Say --identity NAME, or make first contact: presence hello NAME',
        );
      await list(at, { ...filtersOf(undefined, options), to: identity }, options);
    });
  });
}

export function entryCommand(context: ProcessContext): Command {
  const command = new Command('entry').argument(
    '<id>',
    'the seq or the id of the entry, or its path or address',
  );
  addVisitorOptions(command, 'presence entry 580');
  return command.action(async (id: string, options: VisitorOptions) => {
    await visit(context, options, async (at) => {
      const { gateway, output, json, signal } = at;
      if (json || !output.isTerminal) return await writeWhole(at, id);
      await output.write(entryView(await gateway.entry(id, { signal }), output, true));
    });
  });
}

export function watchCommand(context: ProcessContext): Command {
  const command = new Command('watch')
    .argument('[where]', 'a kind or the slug of a room')
    .option('--after <seq>', 'begin after this entry; 0 for all that was ever said', wholeNumber)
    .option(
      '--since <time>',
      'begin with the entries since then (ISO 8601; local time unless it has an offset)',
      localTimeOption,
    )
    .option('--limit <count>', 'end after this many entries', wholeNumber);
  addVisitorOptions(command, 'presence watch memory-garden');
  return command.action(async (where: string | undefined, options: Options) => {
    const follow = async (at: Visit): Promise<void> => {
      const { after, since, limit } = options;
      const { signal, gateway } = at;
      const filters = { ...place(where), after, since, limit, signal };
      const follower = gateway.follow(filters);
      try {
        for await (const entry of follower) await print(at, entry);
      } catch (error) {
        // Whoever gave a time to watch a gateway that answers has watched it for that time.
        if (!signal.aborted || follower.cursor === undefined) throw error;
      }
    };
    await visit(context, options, follow, { patienceMs: Number.POSITIVE_INFINITY });
  });
}

function addListingOptions(command: Command): void {
  command
    .option('--limit <count>', `at most this many (on a terminal: ${TERMINAL_LIMIT})`, wholeNumber)
    .addOption(new Option('--order <order>', 'which come first').choices(['newest', 'oldest']))
    .option('--after <seq>', 'only later entries', wholeNumber);
  addFilterOptions(command);
}

function filtersOf(where: string | undefined, options: Options): ListingFilters {
  const { order, after } = options;
  return { ...place(where), order, after, ...listingFilters(options) };
}

function place(where: string | undefined): ListingFilters {
  if (where === undefined) return {};
  return isKind(where) ? { kind: where } : { room: where };
}

async function list(at: Visit, filters: ListingFilters, { limit }: Options): Promise<void> {
  const { gateway, output, json, signal, notify } = at;
  const isPretty = output.isTerminal && !json;
  const most = limit ?? (isPretty ? TERMINAL_LIMIT : undefined);
  const entries = gateway.entries({ ...filters, limit: most, signal });
  let last: Entry | undefined;
  let count = 0;
  for await (const entry of entries) {
    await print(at, entry);
    last = entry;
    count += 1;
  }
  if (!isPretty) return;
  if (last === undefined) notify('Nothing was said here.');
  else if (count === most && filters.order !== 'oldest')
    notify(`Earlier ones: --before ${last.seq}`);
  else if (count === most) notify(`Later ones: --after ${last.seq}`);
}

async function print(at: Visit, entry: Entry): Promise<void> {
  const { output, json } = at;
  if (output.isTerminal && !json) await output.write(entryView(entry, output));
  else if (isShortened(entry)) await writeWhole(at, entry.id);
  else await output.write(`${jsonText(entry)}\n`);
}

/** Writes an entry of any length, as the visitor spelled it. */
async function writeWhole({ gateway, output, signal }: Visit, id: string): Promise<void> {
  for await (const bytes of gateway.entryBytes(id, { signal })) await output.write(bytes);
  await output.write('\n');
}
