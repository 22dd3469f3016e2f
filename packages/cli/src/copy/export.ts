/** `presence export`: writes a log with its links to a file, from a folder or from a gateway. */
import { open, rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { Gateway, type LineFilters, PresenceError } from '@open-presence/client';
import { openFolderLog, startGateway } from '@open-presence/gateway';
import { type Kind, KINDS } from '@open-presence/protocol';
import { Command, Option } from 'commander';

import { addGuide } from '../command-guide.ts';
import { DATA_SETTING, settingOption } from '../configuration/configuration.ts';
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
import { compressorFor } from './compression.ts';
import { type LogSource, type LogSourceOptions, openLogSource } from './log-source.ts';
import { ProgressBar } from './progress-bar.ts';

interface Options extends LogSourceOptions, SelectionOptions {}

export function exportCommand(context: ProcessContext): Command {
  const command = new Command('export')
    .description(
      'write a log with its links to a file, which anyone can verify and import; or some of its entries',
    )
    .argument('[file]', 'compressed if it ends with .gz or .zst; - for standard output', '-');
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
    const end = new AbortController();
    const stop = (): void => end.abort(new Error('it was interrupted'));
    void context.stopSignal().then(stop);
    // `presence export | head` has read enough.
    context.stdout.on('error', () => end.abort());
    try {
      await exportLog(context, { file, options, signal: end.signal });
    } catch (error) {
      if (context.stdout.errored && file === '-') return;
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

async function exportLog(context: ProcessContext, task: ExportTask): Promise<void> {
  const { file, signal } = task;
  const selection = selectionOf(task.options);
  await using source =
    selection === undefined
      ? openLogSource(task.options, signal)
      : await openSelection(context, { ...task.options, selection, signal });
  using progress = new ProgressBar(context);
  await using target = await openTarget(context, file);
  // The first line of a log is a checkpoint.
  let lines = selection === undefined ? -1 : 0;
  for await (const chunk of source.bytes) {
    signal.throwIfAborted();
    await write(target.stream, chunk);
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) lines += 1;
    progress.show(Math.max(0, lines), source.total && lines / source.total);
  }
  await target.complete();
}

const LF = 0x0a;

interface Target extends AsyncDisposable {
  readonly stream: Writable;
  /** Resolves when everything is flushed and the file has its name. */
  complete(): Promise<void>;
}

async function openTarget({ stdout }: ProcessContext, file: string): Promise<Target> {
  if (file === '-')
    return { stream: stdout, complete: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const unfinished = `${file}.part`;
  const handle = await open(unfinished, 'w');
  const output = handle.createWriteStream({ flush: true });
  const compressor = compressorFor(file);
  compressor?.on('error', (error) => output.destroy(error)).pipe(output);
  const written = finished(output);
  // `complete` awaits it, but is not called after an earlier error.
  written.catch(() => {});
  return {
    stream: compressor ?? output,
    async complete() {
      (compressor ?? output).end();
      await written;
      await rename(unfinished, file);
    },
    async [Symbol.asyncDispose]() {
      compressor?.destroy();
      output.destroy();
      await rm(unfinished, { force: true });
    },
  };
}

/** Resolves when the bytes may be reused. */
function write(stream: Writable, bytes: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  return promise;
}

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
