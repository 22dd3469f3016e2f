/** What entries of a page answer, and what answers them: nested, as far as a page can show it. */
import type { PageEntry } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { facet } from '../../../log/facet.ts';
import type { Log } from '../../../log/log.ts';
import { entryWithId } from '../../../operations/find-entry.ts';
import { countReplies } from '../../../operations/replies.ts';
import { cutText, pageEntryOf } from './page-entry.ts';
import { plainText } from './text-blocks.ts';

/** Levels of answers beneath the entries of a list. */
const MAX_DEPTH = 4;
/** Answers of all levels together, and to one entry. */
const MAX_ANSWERS = 120;
const MAX_SIBLINGS = 12;
/** Entries that are read of one level: some have more siblings than are shown. */
const MAX_READ = 2 * MAX_ANSWERS;
/** In bytes. */
const MAX_ANSWERED = 64 * 1024;
/** UTF-16 code units of what an entry answers. */
const MAX_EXCERPT = 120;

/** The entry, with the start of what it answers, unless that is long. */
async function withAnswered(log: Log, entry: PageEntry): Promise<PageEntry> {
  if (entry.inReplyTo === undefined) return entry;
  const found = await entryWithId(log, entry.inReplyTo);
  // The start of a long entry is in its first megabytes: too much to read for a line.
  if (found === undefined || found.size > MAX_ANSWERED) return entry;
  const { author, text, blocks, seeking = [] } = await pageEntryOf(found);
  const words = text === '' ? seeking.join(', ') : plainText(text, blocks);
  const excerpt = cutText(words, MAX_EXCERPT);
  return { ...entry, answered: { author, text: excerpt } };
}

/** The entries of a list, each with the number of its answers, and the start of what it answers. */
export async function inContext(log: Log, entries: readonly PageEntry[]): Promise<PageEntry[]> {
  const takeTurn = yieldPeriodically();
  const shown: PageEntry[] = [];
  for (const entry of entries) {
    shown.push(await withCount(log, await withAnswered(log, entry)));
    await takeTurn();
  }
  return shown;
}

/** The entries, each with the first of its answers, and these with theirs. */
export async function withAnswers(log: Log, entries: readonly PageEntry[]): Promise<PageEntry[]> {
  const takeTurn = yieldPeriodically();
  const answersTo = new Map<string, PageEntry[]>(entries.map(({ id }) => [id, []]));
  let level = entries;
  let left = MAX_ANSWERS;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && left > 0; depth += 1) {
    const facets = [level.map(({ id }) => facet('inReplyTo', id))];
    const next: PageEntry[] = [];
    for await (const entry of log.readEntries({ facets, order: 'oldest', limit: MAX_READ })) {
      const answer = await pageEntryOf(entry);
      const siblings = answersTo.get(answer.inReplyTo ?? '');
      await takeTurn();
      if (siblings === undefined || siblings.length === MAX_SIBLINGS) continue;
      if (left === 0 || answersTo.has(answer.id)) continue;
      siblings.push(answer);
      answersTo.set(answer.id, []);
      next.push(answer);
      left -= 1;
    }
    level = next;
  }
  const nested = async (entry: PageEntry): Promise<PageEntry> => {
    const answers: PageEntry[] = [];
    for (const answer of answersTo.get(entry.id) ?? []) answers.push(await nested(answer));
    await takeTurn();
    return { ...(await withCount(log, entry)), answers };
  };
  const shown: PageEntry[] = [];
  for (const entry of entries) shown.push(await nested(entry));
  return shown;
}

async function withCount(log: Log, entry: PageEntry): Promise<PageEntry> {
  const replies = await countReplies(log, entry, log.head());
  return replies === 0 ? entry : { ...entry, replies };
}
