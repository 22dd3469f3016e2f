/** Some of the entries of a gateway, or of a folder, on which a gateway of its own runs meanwhile. */
import { Gateway, type LineFilters } from '@open-presence/client';
import { openFolderLog, startGateway } from '@open-presence/gateway';
import { KINDS, type Kind } from '@open-presence/protocol';
import { type Command, Option } from 'commander';

import { reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import {
  addFilterOptions,
  addRecipientOption,
  type FilterOptions,
  listingFilters,
} from '../visit/filter-options.ts';
import type { LogSource, LogSourceOptions } from './log-source.ts';

export interface SelectionOptions extends FilterOptions {
  readonly kind?: Kind;
  readonly room?: string;
}

export function addSelectionOptions(command: Command): void {
  command
    .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(KINDS))
    .option('--room <slug>', 'only what was said in this room');
  addFilterOptions(command);
  addRecipientOption(command);
}

/** Undefined if no entry is left out. */
export function selectionOf({ kind, room, ...options }: SelectionOptions): LineFilters | undefined {
  const filters = { kind, room, ...listingFilters(options) };
  return Object.values(filters).some((value) => value !== undefined) ? filters : undefined;
}

interface SelectionTask extends LogSourceOptions {
  readonly selection: LineFilters;
  readonly signal: AbortSignal;
}

/** Throws while a gateway is running on the folder. */
export async function openSelection(
  context: ProcessContext,
  { data, url, after, limit, selection, signal }: SelectionTask,
): Promise<LogSource> {
  const own = url === undefined ? await gatewayOn(context, data) : undefined;
  const bytes = new Gateway(url ?? own?.address ?? '').entryLines({
    ...selection,
    after,
    limit,
    signal,
  });
  return {
    bytes,
    total: undefined,
    [Symbol.asyncDispose]: async () => await own?.[Symbol.asyncDispose](),
  };
}

async function gatewayOn(
  context: ProcessContext,
  data: string,
): Promise<Awaited<ReturnType<typeof startGateway>>> {
  // A gateway makes a log where there is none.
  openFolderLog(data)[Symbol.dispose]();
  const logger = context.logger('silent');
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, threads: 1, language: undefined };
  try {
    return await startGateway({ ...place, logger, fileThreads: context.fileThreads });
  } catch (error) {
    throw new Error(
      `To select entries of a folder, a gateway is started on it for a while. ${reasonOf(error)} Of one that is running, use --url.`,
      { cause: error },
    );
  }
}
