/** `presence stats`: counts the entries of a log by kind, room, day and visitor. */
import { PresenceError, readLogLines } from '@open-presence/client';
import { Command } from 'commander';
import stringWidth from 'string-width';

import { addGuide } from '../command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  refuseData,
  settingOption,
} from '../configuration/configuration.ts';
import { type LogSource, openLogSource } from '../copy/log-source.ts';
import { entryCount, ProgressBar } from '../copy/progress-bar.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE, fail } from '../exit-codes.ts';
import { parseAddress } from '../configuration/gateway-address.ts';
import type { ProcessContext } from '../process-context.ts';
import { safeLine } from '../safe-text.ts';
import { Output } from '../visit/output.ts';
import { cut } from '../visit/terminal-text.ts';
import { wholeNumber } from '../visit/visit.ts';
import { Tally } from './tally.ts';

interface Options extends Pick<Configuration, 'data'> {
  readonly url?: string;
  readonly top?: number;
  readonly json?: boolean;
}

/** Rows of a table, unless `--top` says otherwise. */
const TOP = 20;

export function statsCommand(context: ProcessContext): Command {
  const command = new Command('stats').description('count entries by kind, room, day and visitor');
  addGuide(command, {
    examples: [
      'presence stats --data ./presence-data',
      'presence stats --url https://presence.example --top 50',
    ],
    exitCodes: [0, 1, 2],
    notes: 'Reads the whole log. A gateway may be running on the folder. Days are those of UTC.',
  });
  command
    .addOption(settingOption(DATA_SETTING, 'data folder of the log'))
    .option('--url <address>', 'address of a gateway, in place of a folder', parseAddress)
    .option('--top <count>', `visitors and newest days to show (default: ${TOP})`, wholeNumber)
    .option('--json', 'print one JSON object, with all days and, without --top, all visitors');
  return command.action(async (options: Options) => {
    if (options.url !== undefined) refuseData(command, '--url');
    const end = new AbortController();
    void context.stopSignal().then(() => end.abort(new Error('it was interrupted')));
    // `presence stats | head` has read enough.
    let isRead = false;
    context.stdout.on('error', () => {
      isRead = true;
      end.abort();
    });
    const output = new Output(context, end.signal);
    try {
      using tally = await count(context, options, end.signal);
      if (options.json === true) await writeJson(output, tally, options.top ?? -1);
      else await writeTables(output, tally, options.top ?? TOP);
    } catch (error) {
      if (isRead) return;
      const isRefused = error instanceof PresenceError && error.code !== 'unreachable';
      const code = isRefused || end.signal.aborted ? EXIT_FAILED : EXIT_UNREACHABLE;
      fail(context, `count ${options.url ?? `"${options.data}"`}`, error, code);
    }
  });
}

async function count(
  context: ProcessContext,
  options: Options,
  signal: AbortSignal,
): Promise<Tally> {
  await using source: LogSource = openLogSource(options, signal);
  using progress = new ProgressBar(context);
  const tally = new Tally();
  try {
    const { batches } = await readLogLines(source.bytes);
    for await (const lines of batches) {
      for (const line of lines) await tally.add(line);
      progress.show(tally.entries, source.total && tally.entries / source.total);
    }
    return tally;
  } catch (error) {
    tally[Symbol.dispose]();
    throw error;
  }
}

async function writeTables(output: Output, tally: Tally, top: number): Promise<void> {
  const { entries, withheld, kinds, rooms, days, visitorCount } = tally;
  const sections: readonly (readonly [title: string, counts: [string, number][]])[] = [
    ['By kind', mostFirst(kinds)],
    ['By room', mostFirst(rooms)],
    [`By day (UTC), the newest ${top}`, [...days].slice(Math.max(0, days.size - top))],
    [
      `By visitor, ${Math.min(top, visitorCount)} of ${visitorCount.toLocaleString('en')}`,
      [...tally.visitors(top)].map((visitor) => [visitor.identity ?? '', visitor.entries]),
    ],
  ];
  const some = withheld.toLocaleString('en');
  const besides = withheld === 0 ? '' : `, ${some} of them withheld`;
  await output.write(`${entryCount(entries)}${besides}\n`);
  for (const [title, counts] of sections)
    await output.write(
      `\n${output.style('bold', title)}\n${countTable(counts, entries, output.width)}`,
    );
}

/** Writes visitors as they come: there may be any number. `top`: -1 for all. */
async function writeJson(output: Output, tally: Tally, top: number): Promise<void> {
  const { entries, withheld, kinds, rooms, days, visitorCount } = tally;
  const [byKind, byRoom, byDay] = [kinds, rooms, days].map((map) => Object.fromEntries(map));
  const counts = { entries, withheld, kinds: byKind, rooms: byRoom, days: byDay, visitorCount };
  await output.write(`${JSON.stringify(counts).slice(0, -1)},"visitors":[`);
  let separator = '';
  for (const visitor of tally.visitors(top)) {
    await output.write(separator + JSON.stringify(visitor));
    separator = ',';
  }
  await output.write(']}\n');
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

const BAR_WIDTH = 20;
const LONGEST_NAME = 40;
const PERCENT_WIDTH = 4;
const NO_NAME = '(without a name)';
/** Eighths of a character. */
const BLOCKS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A table of counts with small bars. The longest bar stands for the largest count, and percents are of `total`. */
function countTable(
  counts: readonly (readonly [name: string, count: number])[],
  total: number,
  width: number,
): string {
  const most = counts.reduce((largest, [, count]) => Math.max(largest, count), 1);
  const amount = most.toLocaleString('en').length;
  const rest = width - amount - PERCENT_WIDTH - BAR_WIDTH - 8;
  const longest = Math.max(10, Math.min(LONGEST_NAME, rest));
  const rows = counts.map(([name, count]) => ({
    name: cut(name === '' ? NO_NAME : safeLine(name), longest),
    count,
  }));
  const column = rows.reduce((widest, { name }) => Math.max(widest, stringWidth(name)), 0);
  const lines = rows.map(({ name, count }) => {
    const padded = name + ' '.repeat(column - stringWidth(name));
    const percent = `${Math.round((count / total) * 100)}%`.padStart(PERCENT_WIDTH);
    const number = count.toLocaleString('en').padStart(amount);
    return `  ${padded}  ${number}  ${percent}  ${bar(count / most)}\n`;
  });
  return lines.length === 0 ? '  nothing\n' : lines.join('');
}

function bar(share: number): string {
  const eighths = Math.max(1, Math.round(share * BAR_WIDTH * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (BLOCKS[eighths % 8] ?? '');
}
