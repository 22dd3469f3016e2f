/**
 * `presence withhold`, `hide` and `show`: take away the text of entries, for good or until it is shown
 * again, and show it again. They work beside a running gateway or on its folder.
 */
import { createInterface } from 'node:readline/promises';

import { NAMES_PATH } from '@open-presence/gateway';
import { KINDS, portableJson } from '@open-presence/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';

import { addGuide } from './command-guide.ts';
import { entryCount } from './copy/progress-bar.ts';
import { addOwnerOptions, askAsOwner } from './owner-command.ts';
import type { ProcessContext } from './process-context.ts';
import { entryView } from './visit/entry-view.ts';
import { Output } from './visit/output.ts';
import { localTimeOption, wholeNumber } from './visit/visit.ts';
import {
  closeNotice,
  FILTERS,
  lookedThrough,
  type Options,
  type Selected,
  selected,
  type State,
  type Task,
  withNotice,
} from './withholding-task.ts';

/** An empty text begins and matches all others, and comes from a variable of a script that is not set. */
function nonEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty, which would select every entry.');
}

function regularExpression(text: string): RegExp {
  const source = nonEmpty(text);
  try {
    return new RegExp(source, 'imu');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** The texts of the three commands. */
const TEXTS = {
  withheld: {
    name: 'withhold',
    notes: 'It also destroys what is hidden; with --hidden that alone.',
    examples: [
      "presence withhold 01a1fe76-130a-7000-8000-00000feb750f --reason 'Asked for by its author'",
      "presence withhold --identity Spammer --since 2026-11-01 --reason 'Advertising' --yes",
      'presence withhold -q casino --room memory-garden --dry-run',
      "presence withhold --hidden --until 2026-11-28 --reason 'A flood' --yes",
    ],
    question: (count: string) => `Take away what was said in ${count}, for good? [y/N] `,
  },
  hidden: {
    name: 'hide',
    notes:
      'What is hidden is in no answer, as if it was withheld, but stays in the folder: "presence show" puts it back, and "presence withhold" destroys it. With --name, a name is hidden in place of entries: whoever has it stays connected.',
    examples: [
      "presence hide 01a1fe76-130a-7000-8000-00000feb750f --reason 'Is being looked into'",
      "presence hide --name 'Buy now: example.com'",
      "presence hide --since 2026-11-27T05:40 --name-prefix bot- --matching '^buy .* now$' --dry-run",
    ],
    question: (count: string) => `Hide what was said in ${count}? [y/N] `,
  },
  shown: {
    name: 'show',
    notes: 'With --dry-run, it shows what is hidden. What was withheld cannot be put back.',
    examples: [
      'presence show --dry-run',
      "presence show 01a1fe76-130a-7000-8000-00000feb750f --reason 'An appeal'",
    ],
    question: (count: string) => `Show again what was said in ${count}? [y/N] `,
  },
} as const;

export function withholdCommand(context: ProcessContext): Command {
  return commandFor('withheld', context)
    .option('--hidden', 'of these, only what is hidden; alone, everything that is hidden')
    .option(
      '--notice <number>',
      'what this notice names, unless others say which; closes the notice',
    );
}

export function hideCommand(context: ProcessContext): Command {
  return commandFor('hidden', context).option(
    '--name <name>',
    'keep this name out of presence, companions and lists of names; what it says stays',
  );
}

export function showCommand(context: ProcessContext): Command {
  return commandFor('shown', context).option('--name <name>', 'let this name be seen again');
}

function commandFor(state: State, context: ProcessContext): Command {
  const { name, notes, examples } = TEXTS[state];
  const command = new Command(name)
    .argument('[ids...]', 'entries by their ids, or by the paths or addresses that end with them')
    .option('--identity <name>', 'what this visitor said')
    .option('--to <name>', 'what is meant for this visitor')
    .option('--seeking <words>', 'first contacts that seek this')
    .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(KINDS))
    .option('--room <slug>', 'only what was said in this room')
    .option('-q, --q <words>', 'only entries with these words')
    .option(
      '--since <time>',
      'only from then on (ISO 8601; local time unless it has an offset)',
      localTimeOption,
    )
    .option('--until <time>', 'only before then', localTimeOption)
    .option('--after <seq>', 'only later entries', wholeNumber)
    .option('--before <seq>', 'only earlier entries', wholeNumber)
    .option('--from <file>', 'entries by their ids, one on each line of this file (- for stdin)')
    .option('--beneath <id>', 'what answers this entry, what answers that, and so on')
    .option(
      '--matching <regex>',
      'of these, only entries with a text that matches (JavaScript, flags "imu")',
      regularExpression,
    )
    .option(
      '--name-prefix <text>',
      'of these, only what is said by names that begin with this',
      nonEmpty,
    )
    .option('--reason <text>', 'why: everyone can read it')
    .option('--dry-run', 'only show which entries these are')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object');
  addGuide(addOwnerOptions(command), {
    examples,
    exitCodes: [0, 1, 2],
    notes: `${notes} A gateway may be running on the folder: only the user who runs it can do this. Entries are selected as listings select them. Without --yes, it shows how many they are and asks; --dry-run shows twenty at random. It is done for all of them, or for none. What was copied elsewhere, to mirrors, exports and backups, is not in reach: mirrors follow by themselves.`,
  });
  return command.action(async (ids: readonly string[], options: Options) => {
    const end = new AbortController();
    void context.stopSignal().then(() => end.abort(new Error('it was interrupted')));
    const isUnexplained =
      options.reason === undefined && options.dryRun !== true && options.name === undefined;
    const ofEntries = options.name === undefined ? [] : optionsOfEntries(ids, options);
    await askAsOwner(context, options, {
      what: `${name} entries of "${options.data}"`,
      refusal: isUnexplained
        ? '--reason says why, to everyone.'
        : ofEntries.length > 0
          ? `--name is about a name alone, and has no effect on entries. Leave out ${ofEntries.join(', ')}, or give two commands.`
          : undefined,
      async ask(access) {
        const task = { state, access, ids, options, signal: end.signal };
        await (options.name === undefined ? run(context, task) : hideName(context, task));
      },
    });
  });
}

/** What was given that has no effect beside `--name`. */
function optionsOfEntries(ids: readonly string[], options: Options): string[] {
  const names = [
    'from',
    'beneath',
    'matching',
    'namePrefix',
    'dryRun',
    'reason',
    ...FILTERS,
  ] as const;
  const given = names.filter((name) => options[name] !== undefined);
  const flags = given.map(
    (name) => `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  return ids.length > 0 ? ['the ids', ...flags] : flags;
}

async function hideName(
  context: ProcessContext,
  { state, access, options: { name, json }, signal }: Task,
): Promise<void> {
  for await (const found of access.request(NAMES_PATH, { name, to: state }, signal)) {
    const names = Array.isArray(found['hidden']) ? found['hidden'].map(String) : [];
    const text = names.length === 0 ? 'No name is hidden.' : `Hidden: ${names.join(', ')}`;
    const shown = json === true ? portableJson(found) : text;
    await new Output(context, signal).write(`${shown}\n`);
  }
}

async function run(context: ProcessContext, given: Task): Promise<void> {
  const { state, options, signal } = given;
  const task = await lookedThrough(context, await withNotice(given));
  const output = new Output(context, signal);
  const { reason, dryRun = false, yes = false } = options;
  const isAsking = dryRun || !yes;
  const found = await selected(context, task, isAsking ? {} : { reason });
  const { selected: count, alreadyWithheld, before, entries } = found;
  if (options.json !== true) await showSelected(task, found, output);
  const isConfirmed = !dryRun && count > 0 && (yes || (await confirm(context, task, count)));
  const done = isConfirmed && isAsking ? await selected(context, task, { reason, before }) : found;
  const changed = done.changed ?? 0;
  // Even if everything was withheld before: the command may repeat one that was interrupted.
  if (options.notice !== undefined && (isConfirmed || (!dryRun && count === 0)))
    await closeNotice(task, options.notice);
  if (options.json === true) {
    const ids = entries.map(({ id }) => id);
    const shown = dryRun ? { sample: ids } : { first: ids };
    const result = { selected: count, [state]: changed, alreadyWithheld, ...shown };
    await output.write(`${portableJson(result)}\n`);
  } else if (isConfirmed) await output.write(`${entryCount(changed)} ${state}.\n`);
  else if (!dryRun && count > 0) throw new Error('it was not confirmed');
}

async function showSelected({ state, ids }: Task, found: Selected, output: Output): Promise<void> {
  const { selected, alreadyWithheld, entries } = found;
  for (const entry of entries) await output.write(entryView(entry, output));
  const more = selected - entries.length;
  if (more > 0) await output.write(`… and ${more.toLocaleString('en')} more.\n`);
  const already =
    alreadyWithheld === 0 ? '' : ` ${entryCount(alreadyWithheld)} withheld or hidden already.`;
  const others = state === 'shown' ? new Set(ids).size - selected : 0;
  const notHidden =
    others <= 0 ? '' : ` ${entryCount(others)} not hidden: what was withheld cannot be put back.`;
  await output.write(`${entryCount(selected)} to ${TEXTS[state].name}.${already}${notHidden}\n`);
}

/** Throws if nobody can be asked. */
async function confirm(
  { stdin, stderr }: ProcessContext,
  { state, signal }: Task,
  selected: number,
): Promise<boolean> {
  if (stdin.isTTY !== true)
    throw new Error(
      'nobody can be asked, since standard input is no terminal. Nothing was changed. Confirm with --yes, or look first with --dry-run',
    );
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    const question = TEXTS[state].question(entryCount(selected));
    return /^y(es)?$/i.test((await terminal.question(question, { signal })).trim());
  } finally {
    terminal.close();
  }
}
