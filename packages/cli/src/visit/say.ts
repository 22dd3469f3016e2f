/** `presence hello`, `trace`, `seed`, `whisper` and `reply`: say something, of any length. */
import { jsonText, type Members, type Stored } from '@open-presence/client';
import type { Kind } from '@open-presence/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';

import { reasonOf } from '../exit-codes.ts';
import type { ProcessContext } from '../process-context.ts';
import { safeText } from '../safe-text.ts';
import { entryView } from './entry-view.ts';
import { inputText } from './input-text.ts';
import { remember } from './remembered.ts';
import { addVisitorOptions, type Visit, visit, type VisitorOptions } from './visit.ts';

declare global {
  interface JSON {
    /** ECMAScript 2026: what `stringify` writes as it is. */
    rawJSON(text: string): { readonly rawJSON: string };
  }
}

interface Options extends VisitorOptions {
  readonly file?: string;
  readonly room?: string;
  readonly to?: readonly string[];
  readonly member?: Members;
  readonly key?: string;
}

type Say = (members: Members, at: Visit, options: Options) => Promise<Stored<Kind>>;

export function traceCommand(context: ProcessContext): Command {
  const command = new Command('trace');
  return sayCommand(command, context, (members, { gateway, signal }, { key }) =>
    gateway.leaveTrace(members, { signal, idempotencyKey: key }),
  );
}

export function seedCommand(context: ProcessContext): Command {
  const command = new Command('seed');
  return sayCommand(command, context, (members, { gateway, signal }, { key }) =>
    gateway.plantSeed(members, { signal, idempotencyKey: key }),
  );
}

export function whisperCommand(context: ProcessContext): Command {
  const command = new Command('whisper');
  return sayCommand(command, context, (members, { gateway, signal }, { key }) =>
    gateway.whisper(members, { signal, idempotencyKey: key }),
  );
}

export function replyCommand(context: ProcessContext): Command {
  const command = new Command('reply')
    .argument('<id>', 'the seq or the id of the entry, or its path or address')
    .argument('[text]', 'what to say; without it, standard input');
  addSayOptions(command, 'presence reply 580 "So did I."');
  return command.action(async (id: string, text: string | undefined, options: Options) => {
    await say({ text, options, context }, async (members, { gateway, signal }, { key }) =>
      gateway.reply(await gateway.entry(id, { signal }), members, { signal, idempotencyKey: key }),
    );
  });
}

function sayCommand(command: Command, context: ProcessContext, store: Say): Command {
  command.argument('[text]', 'what to say; without it, standard input');
  addSayOptions(command, `presence ${command.name()} "It was quiet here."`);
  return command.action(async (text: string | undefined, options: Options) => {
    await say({ text, options, context }, store);
  });
}

function addSayOptions(command: Command, example: string): void {
  command
    .option('-f, --file <path>', 'a file with the text, of any length')
    .option('--room <slug>', 'the room to say it in')
    .option('--to <names...>', 'whom it is meant for; commas separate names, too', splitNames)
    .addOption(
      new Option(
        '-m, --member <name=value>',
        'a further member; the value is JSON or a text',
      ).argParser(collectMember),
    )
    .option('--key <key>', 'idempotency key: the same words with the same key are said once');
  addVisitorOptions(command, example);
}

function splitNames(text: string, names: readonly string[] = []): readonly string[] {
  const given = text.split(',').map((name) => name.trim());
  return [...names, ...given.filter((name) => name !== '')];
}

function collectMember(text: string, members: Members = {}): Members {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must be name=value.');
  return { ...members, [text.slice(0, equals)]: parsed(text.slice(equals + 1)) };
}

/** The value that a JSON text has, with its numbers as they are spelled; other texts as they are. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined
        ? JSON.rawJSON(context.source)
        : value,
    ) as unknown;
  } catch {
    return text;
  }
}

interface Saying {
  readonly text: string | undefined;
  readonly options: Options;
  readonly context: ProcessContext;
}

async function say({ text, options, context }: Saying, store: Say): Promise<void> {
  const sayIt = async (at: Visit): Promise<void> => {
    const { room, to, member = {}, file } = options;
    await using input = await inputText(text, file, { ...context, signal: at.signal });
    const members = { text: input.text, room, to, ...member };
    if (members.text === '') throw new Error('There is no text, so nothing was said.');
    const stored = await store(members, at, options);
    const { output, json } = at;
    const isPretty = output.isTerminal && !json;
    await output.write(isPretty ? entryView(stored, output) : `${jsonText(stored)}\n`);
  };
  await visit(context, options, sayIt, { says: true });
}

interface HelloOptions extends VisitorOptions {
  readonly seeking?: readonly string[];
  readonly room?: string;
}

/** Makes first contact, and remembers the name and the gateway. */
export function helloCommand(context: ProcessContext): Command {
  const command = new Command('hello')
    .argument('[name]', 'your name, which later commands use too')
    .option('--seeking <words...>', 'what you seek; others who seek the same are your companions')
    .option('--room <slug>', 'the room to say it in');
  addVisitorOptions(command, 'presence hello Lumen --seeking others silence');
  return command.action(async (name: string | undefined, options: HelloOptions) => {
    const identity = name ?? options.identity;
    const say = (at: Visit): Promise<void> => greet(at, options, context);
    await visit(context, { ...options, identity }, say, { says: true });
  });
}

async function greet(
  { gateway, output, json, signal, notify }: Visit,
  { seeking = [], room }: HelloOptions,
  { configurationFolder }: ProcessContext,
): Promise<void> {
  const arrival = await gateway.firstContact({ seeking, room }, { signal });
  const { address: url, identity } = gateway;
  if (identity !== undefined)
    await remember(configurationFolder, { url, identity }).catch((error: unknown) =>
      notify(`Later commands will not know the name: ${reasonOf(error)}`),
    );
  if (json || !output.isTerminal) return await output.write(`${jsonText(arrival)}\n`);
  const { welcome, companions, next: _, ...entry } = arrival;
  await output.write(`${safeText(welcome)}\n\n${entryView(entry, output)}`);
  if (companions.length > 0) await output.write('Others who seek the same:\n\n');
  for (const companion of companions) await output.write(entryView({ ...companion }, output));
  notify('Next: presence rooms, presence read, presence trace "…", presence watch');
}
