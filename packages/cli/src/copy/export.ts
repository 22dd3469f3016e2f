/** `presence export`: writes a log with its links to a file, from a folder or from a gateway. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { Gateway, type LineFilters, PresenceError } from '@open-presence/client';
import { openFolderLog, refuseBackup, startGateway } from '@open-presence/gateway';
import { type Kind, KINDS } from '@open-presence/protocol';
import { Command, Option } from 'commander';

import { addGuide } from '../command-guide.ts';
import {
  DATA_SETTING,
  nonEmpty,
  refuseData,
  settingOption,
} from '../configuration/configuration.ts';
import { parseAddress } from '../configuration/gateway-address.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail, reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import {
  addFilterOptions,
  addRecipientOption,
  type FilterOptions,
  listingFilters,
} from '../visit/filter-options.ts';
import { wholeNumber } from '../visit/visit.ts';
import { compressorsFor } from './compression.ts';
import { type LogSource, type LogSourceOptions, openLogSource } from './log-source.ts';
import { ProgressBar } from './progress-bar.ts';

interface Options extends LogSourceOptions, SelectionOptions {}

export function exportCommand(context: ProcessContext): Command {
  const command = new Command('export').argument(
    '[file]',
    'compressed if it ends with .gz or .zst; - for standard output',
    nonEmpty('the path of a file'),
    '-',
  );
  addGuide(command, {
    examples: [
      'presence export --data ./presence-data log.ndjson.zst',
      'presence export --url https://presence.example log.ndjson.gz',
      'presence export --data ./presence-data --kind seeds --since 2026-01-01 seeds.ndjson',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'The lines are those of GET /api/log, which "presence import" takes. A gateway may be running on the folder. With options that select entries by more than --after and --limit, the lines are these entries alone, for reading; of a folder only if no gateway is running on it. The file gets its name when it is complete.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--url <address>', 'address of a gateway, in place of a folder', parseAddress)
    .option('--after <seq>', 'only later entries', wholeNumber)
    .option('--limit <count>', 'at most this many', wholeNumber);
  addSelectionOptions(command);
  return command.action(async (file: string, options: Options) => {
    if (options.url !== undefined) refuseData(command, '--url');
    const end = new AbortController();
    const stop = (): void => end.abort(new Error('it was interrupted'));
    void context.stopSignal().then(stop);
    // Whoever is piped to may read enough before the end, as `head` does. The command tells other faults itself.
    let isOutputLost = false;
    context.stdout.on('error', () => {
      isOutputLost = true;
      end.abort();
    });
    try {
      await exportLog(context, { file, options, signal: end.signal });
    } catch (thrown) {
      if (isOutputLost && file === '-') return;
      const error: unknown = end.signal.aborted ? end.signal.reason : thrown;
      const isRefused = error instanceof PresenceError && error.code !== 'unreachable';
      const code = isRefused || end.signal.aborted ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `export ${options.url ?? `"${options.data}"`}`, error, code);
    }
  });
}

interface ExportTask {
  readonly file: string;
  readonly options: Options;
  readonly signal: AbortSignal;
}

async function exportLog(
  context: ProcessContext,
  { file, options, signal }: ExportTask,
): Promise<void> {
  const selection = selectionOf(options);
  await using source =
    selection === undefined
      ? openLogSource(options, signal)
      : await openSelection(context, { ...options, selection, signal });
  using progress = new ProgressBar(context);
  async function* counted(): AsyncGenerator<Uint8Array, void> {
    // The first line of a log is a checkpoint.
    let lines = selection === undefined ? -1 : 0;
    for await (const chunk of source.bytes) {
      // The source may use its bytes again before they are written.
      yield Buffer.from(chunk);
      for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines += 1;
      progress.show(Math.max(0, lines), source.total && lines / source.total);
    }
  }
  if (file === '-') return await pipeline(counted(), context.stdout, { end: false, signal });
  const write = async (path: string, flush: boolean): Promise<void> => {
    const lines = Readable.from(counted(), { objectMode: false });
    const output = createWriteStream(path, { flush });
    await pipeline([lines, ...compressorsFor(file), output], { signal });
  };
  // A file would take the place of a device or a pipe.
  if (await isSpecial(file)) return await write(file, false);
  const unfinished = `${file}.part`;
  try {
    await write(unfinished, true);
    await rename(unfinished, file);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function isSpecial(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile();
}

const LF = 0x0a;

interface SelectionOptions extends FilterOptions {
  readonly kind?: Kind;
  readonly room?: string;
}

function addSelectionOptions(command: Command): void {
  command
    .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(KINDS))
    .option('--room <slug>', 'only what was said in this room');
  addFilterOptions(command);
  addRecipientOption(command);
}

/** Undefined if no entry is left out. */
function selectionOf({ kind, room, ...options }: SelectionOptions): LineFilters | undefined {
  const filters = { kind, room, ...listingFilters(options) };
  return Object.values(filters).some((value) => value !== undefined) ? filters : undefined;
}

interface SelectionTask extends LogSourceOptions {
  readonly selection: LineFilters;
  readonly signal: AbortSignal;
}

/** Throws while a gateway is running on the folder. */
async function openSelection(
  context: ProcessContext,
  { data, url, after, limit, selection, signal }: SelectionTask,
): Promise<LogSource> {
  const own = url === undefined ? await gatewayOn(context, data) : undefined;
  const bytes = new Gateway(url ?? own?.address ?? '').entryLines({
    ...selection,
    order: 'oldest',
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
  // Throws if the folder has no log: the gateway would make one.
  openFolderLog(data)[Symbol.dispose]();
  const logger = await context.logger('silent');
  const place = { listen: { host: '127.0.0.1', port: 0 }, data, threads: 1, language: undefined };
  try {
    // It would become the data folder of a log of its own.
    refuseBackup(data);
    return await startGateway({ ...place, logger, fileThreads: context.fileThreads });
  } catch (error) {
    throw new Error(
      `To select entries of a folder, a gateway is started on it for a while. ${reasonOf(error)} Of one that is running, use --url.`,
      { cause: error },
    );
  }
}
