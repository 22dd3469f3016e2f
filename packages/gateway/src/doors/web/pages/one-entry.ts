/** The page `/entries/{id}`: one entry, what it answers, and its replies. */
import { localize } from '@open-presence/protocol';
import type { EntryPage, PageEntry, Shell } from '@open-presence/web/page-data';
import { visibleName } from '@open-presence/web/renderer';

import { queryOf } from '../../../http/parameters/query.ts';
import type { Entry, Log } from '../../../log/log.ts';
import { entryWithId, findEntry } from '../../../operations/find-entry.ts';
import { titleExcerpt } from '../../../operations/listing-scope.ts';
import type { DoorRequest } from '../../context.ts';
import { readList } from '../entries/entry-list.ts';
import { cutText, pageEntryOf } from '../entries/page-entry.ts';
import { readPiece } from '../entries/text-pieces.ts';
import type { PageContent } from '../page-route.ts';
import { feedsOf } from './feeds.ts';

/** What an entry answers is shown up to this many steps; more on request. */
const MAX_ANCESTORS = 3;
const MAX_DESCRIPTION_LENGTH = 200;

export const parameters = ['of', 'part', 'before', 'after'];

export async function createPage(
  { app, request, params }: DoorRequest,
  shell: Shell,
): Promise<PageContent> {
  const { log, language } = app;
  const stored = await findEntry(log, params['id'] ?? '');
  const entry = await pageEntryOf(stored);
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
      ...(await pieceOf(stored, entry, address)),
      ancestors: await ancestorsOf(log, entry),
      replies: await readList(app, {
        filters: new URLSearchParams({ inReplyTo: id, answers: 'nested' }),
        order: 'oldest',
        address,
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

function wordsOf({ text, seeking = [] }: PageEntry): string {
  return text === '' ? seeking.join(', ') : text;
}

/** Only of what the entry does not show already. */
async function pieceOf(
  stored: Entry,
  { truncatedSize, text }: PageEntry,
  address: URLSearchParams,
): Promise<Pick<EntryPage, 'piece'>> {
  const isWhole = address.get('of') === 'json';
  if (truncatedSize === undefined || (!isWhole && text === '')) return {};
  const of = isWhole ? 'json' : 'text';
  const piece = await readPiece(stored, { of, part: Number(address.get('part') ?? 1) });
  const isShown = of === 'text' && piece.parts === 1 && piece.text === text;
  return isShown ? {} : { piece: { ...piece, of } };
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
