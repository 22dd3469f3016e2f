/** The page `/entries/{id}`: one entry, what it answers, and its replies. */
import { localize } from '@open-presence/protocol';
import type { PageEntry, Shell } from '@open-presence/web/page-data';
import { visibleName } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/parameters/query.ts';
import type { Log } from '../../../log/log.ts';
import { entryWithId, findEntry } from '../../../operations/find-entry.ts';
import { titleExcerpt } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';
import { readList } from '../entries/entry-list.ts';
import { cutText, MAX_WHOLE_TEXT, pageEntryOf } from '../entries/page-entry.ts';
import { plainText } from '../entries/text-blocks.ts';
import type { PageContent } from '../page-route.ts';
import { feedsOf } from './feeds.ts';

/** What an entry answers is shown up to this many steps; more on request. */
const MAX_ANCESTORS = 3;
const MAX_DESCRIPTION_LENGTH = 200;

export async function createPage(
  { app, request, params }: DoorRequest,
  shell: Shell,
): Promise<PageContent> {
  const { log, language } = app;
  const entry = await pageEntryOf(await findEntry(log, params['id'] ?? ''), MAX_WHOLE_TEXT);
  const { id } = entry;
  const address = queryOf(request);
  const title = titleOf(entry, shell, localize(language.labels.unnamed, shell.locale));
  return {
    data: {
      page: 'entry',
      shell,
      title,
      description: cutText(titleExcerpt(wordsOf(entry)) || title, MAX_DESCRIPTION_LENGTH),
      feeds: feedsOf(`/api/entries/${id}/replies`, localize(language.labels.replies, shell.locale)),
      entry,
      ancestors: await ancestorsOf(log, entry),
      replies: await readList(app, {
        filters: new URLSearchParams({ inReplyTo: id }),
        order: 'oldest',
        address,
        isNested: true,
      }),
    },
  };
}

function titleOf({ author, kind, ...entry }: PageEntry, shell: Shell, unnamed: string): string {
  const parts = [
    titleExcerpt(visibleName(author ?? unnamed)),
    titleExcerpt(wordsOf({ kind, ...entry })),
  ];
  const shown = parts.filter((part) => part !== '');
  return shown.length === 2 ? shown.join(': ') : `${shell.kinds[kind].name}: ${shown.join('')}`;
}

function wordsOf({ text, blocks, seeking = [] }: PageEntry): string {
  return text === '' ? seeking.join(', ') : plainText(text, blocks);
}

async function ancestorsOf(log: Log, { id, inReplyTo }: PageEntry): Promise<PageEntry[]> {
  const ancestors: PageEntry[] = [];
  const seen = new Set([id]);
  let next = inReplyTo;
  while (next !== undefined && ancestors.length < MAX_ANCESTORS && !seen.has(next)) {
    seen.add(next);
    const found = await entryWithId(log, next);
    if (found === undefined) break;
    const entry = await pageEntryOf(found);
    ancestors.unshift(entry);
    next = entry.inReplyTo;
  }
  return ancestors;
}
