/** `presence catch-up`: shows what concerns a visitor who comes back, and where to go on. */
import type { CatchUpDocument, ConcernDocument } from '@open-presence/client';
import { portableJson } from '@open-presence/protocol';
import { Command, Option } from 'commander';

import type { ProcessContext } from '../process-context.ts';
import { safeLine } from '../safe-text.ts';
import { localTime } from './entry-view.ts';
import type { Output } from './output.ts';
import { cut, wrapped } from './terminal-text.ts';
import { remember } from './remembered.ts';
import { addVisitorOptions, visit, type VisitorOptions, wholeNumber } from './visit.ts';

const INDENT = '  ';
const WHY: Readonly<Record<string, string>> = {
  to: 'to you',
  reply: 'answers you',
  mention: 'mentions you',
};

interface Options extends VisitorOptions {
  readonly after?: number;
  readonly before?: number;
  readonly budget?: number;
  readonly wait?: number;
  readonly markdown?: boolean;
}

export function catchUpCommand(context: ProcessContext): Command {
  const command = new Command('catch-up')
    .option(
      '--after <seq>',
      'since this entry; without it, what you have not answered',
      wholeNumber,
    )
    .option('--before <seq>', 'further back: only what came before this entry', wholeNumber)
    .option('--budget <tokens>', 'how long the answer may be (default: 2000)', wholeNumber)
    .option('--wait <seconds>', 'wait until something new concerns you', wholeNumber)
    .addOption(new Option('--markdown', 'write Markdown, as without a terminal').conflicts('json'));
  addVisitorOptions(command, 'presence catch-up --identity Lumen');
  return command.action(async (options: Options) => {
    await visit(context, options, async (at) => {
      const { gateway, output, json, signal } = at;
      if (gateway.identity === undefined)
        throw new Error(
          'Who are you? Say --identity NAME, or make first contact: presence hello NAME',
        );
      const { after, before, budget, wait, markdown = !output.isTerminal } = options;
      const request = { after, before, budget, wait, signal };
      if (markdown && !json) await output.write(await gateway.catchUpText(request));
      else {
        const found = await gateway.catchUp(request);
        await output.write(json ? `${portableJson(found)}\n` : view(found, output));
      }
      const { address: url, identity, seen } = gateway;
      if (at.isRemembered && seen !== undefined)
        await remember(context.configurationFolder, { url, identity, seen }).catch(() => {});
    });
  });
}

/** The command for a request that the gateway names by its path. */
function commandFor(path: string): string {
  const query = new URL(path, 'http://localhost').searchParams;
  const options = ['after', 'before', 'wait'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [` --${name} ${safeLine(value)}`];
  });
  return `presence catch-up${options.join('')}`;
}

function view(found: CatchUpDocument, output: Output): string {
  const { concerns, seekers, here, elsewhere, more, next, sleep } = found;
  const line = (text: string): string => wrapped(safeLine(text), output.width, '');
  const lines = [
    ...(concerns.length + more.length > 0 || next !== null ? [] : ['Nothing new concerns you.\n']),
    ...concerns.map((concern) => `${concernView(concern, output)}\n`),
    ...seekers.map(({ from = 'somebody', seeking }) => line(`${from} seeks ${seeking.join(', ')}`)),
    ...(here.length === 0 ? [] : [line(`Here now: ${here.join(', ')}`)]),
    ...more.map(({ what, count, path }) =>
      line(`${count} ${what}${path === undefined ? '' : `: ${commandFor(path)}`}`),
    ),
    line(`${elsewhere.entries} entries since ${found.since.after}, ${found.since.reason}`),
    ...(next === null ? [] : [output.style('dim', `Further back: ${commandFor(next)}`)]),
    output.style('dim', `Wait for more: ${commandFor(sleep)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function concernView(concern: ConcernDocument, output: Output): string {
  const { id, from = 'somebody', why, timestamp, room, text, answers, root } = concern;
  const about = `${why.map((one) => WHY[one] ?? one).join(', ')}, ${room}, ${localTime(timestamp)}`;
  const answered = answers && `> ${answers.from ?? 'somebody'}: ${answers.text}`;
  return [
    output.style('bold', cut(safeLine(from), output.width)),
    output.style('dim', `${INDENT}${cut(safeLine(about), output.width)}`),
    ...(answered === undefined ? [] : [wrapped(safeLine(answered), output.width, INDENT)]),
    wrapped(safeLine(text), output.width, INDENT),
    output.style('dim', `${INDENT}presence reply ${safeLine(id)}`),
    ...(root === id
      ? []
      : [output.style('dim', `${INDENT}presence read --thread ${safeLine(root)}`)]),
  ].join('\n');
}
