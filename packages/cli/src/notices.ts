/** `presence notices`: shows, closes and erases private notices to the owner, beside a running gateway or on its folder. */
import { portableJson } from '@open-presence/protocol';

import {
  CLOSE_NOTICE_PATH,
  ERASE_NOTICE_PATH,
  NOTICES_PATH,
  SHOW_NOTICE_PATH,
} from '@open-presence/gateway';
import { Argument, Command } from 'commander';

import { addGuide } from './command-guide.ts';
import { addOwnerOptions, askAsOwner, type OwnerOptions } from './owner-command.ts';
import type { ProcessContext } from './process-context.ts';
import { safeLine, safeText } from './safe-text.ts';
import { Output } from './visit/output.ts';

interface Options extends OwnerOptions {
  readonly reason?: string;
  readonly json?: boolean;
}

type Notice = Readonly<Record<string, unknown>>;

const PATHS: Readonly<Record<string, string>> = {
  list: NOTICES_PATH,
  show: SHOW_NOTICE_PATH,
  close: CLOSE_NOTICE_PATH,
  erase: ERASE_NOTICE_PATH,
};

export function noticesCommand(context: ProcessContext): Command {
  const command = new Command('notices')
    .addArgument(new Argument('[action]', 'what to do').choices(Object.keys(PATHS)).default('list'))
    .argument('[number]', 'of a notice: without it, all are listed')
    .option('--reason <text>', 'to close one: everyone who has its number can read it')
    .option('--json', 'print JSON, an object a line');
  addGuide(addOwnerOptions(command), {
    examples: [
      'presence notices',
      'presence notices show 20261127T094512Z-0f3c5a9e1b7d2f4a6c8e',
      "presence notices close 20261127T094512Z-0f3c5a9e1b7d2f4a6c8e --reason 'It is a quotation, and stays'",
      'presence notices erase 20261127T094512Z-0f3c5a9e1b7d2f4a6c8e',
    ],
    exitCodes: [0, 1, 2],
    notes:
      'A gateway may be running on the folder: only the user who runs it can do this. "erase" removes what was sent for good, and closes the notice: its number, its times and the reason stay. To withhold what a notice names, use "presence withhold --notice". In a cluster, each gateway has the notices that it has received.',
  });
  return command.action(async (action: string, number: string | undefined, options: Options) => {
    const { reason, json = false } = options;
    const isUnclear =
      (action === 'list') !== (number === undefined) ||
      (action === 'close') !== (reason !== undefined);
    await askAsOwner(context, options, {
      what: `${action} notices of "${options.data}"`,
      refusal: isUnclear
        ? '"list" takes neither a number nor --reason, "close" takes both, "show" and "erase" take a number.'
        : undefined,
      async ask(access) {
        const { signal } = new AbortController();
        const events = access.request(PATHS[action] ?? '', { number, reason }, signal);
        await print(new Output(context, signal), json, events);
      },
    });
  });
}

async function print(output: Output, json: boolean, events: AsyncIterable<Notice>): Promise<void> {
  let isText = false;
  for await (const event of events) {
    if (json) await output.write(`${portableJson(event)}\n`);
    else if (typeof event['text'] === 'string') {
      isText = true;
      await output.write(safeText(event['text']));
    } else await output.write(noticeView(event));
  }
  if (isText) await output.write('\n');
}

function noticeView({ number, received, state, closed, reason, words }: Notice): string {
  const end = state === 'closed' ? ` ${String(closed)}: ${safeLine(String(reason))}` : '';
  const said = Object.entries(words ?? {}).map(([name, value]) => {
    return `  ${name}: ${safeLine(String(value)).slice(0, MAX_WORDS)}\n`;
  });
  return `${String(number)}  ${String(received)}  ${String(state)}${end}\n${said.join('')}`;
}

const MAX_WORDS = 200;
