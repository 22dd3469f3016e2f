/** What happens to entries with nested answers when another answer comes, or more of them are loaded. */
import type { PageEntry } from './entry-data.ts';

type Entries = readonly PageEntry[];

/**
 * The same entries where none of them, and none of their answers, is answered by this one. Answers that are
 * shown have no gap: where others are not loaded, this one is only counted.
 */
export function withAnswer(entries: Entries, answer: PageEntry): Entries {
  return withChange(entries, answer.inReplyTo, (entry) => {
    const { answers, replies = 0 } = entry;
    const isNext = answers?.length === replies;
    const added = answers && isNext && { answers: [...answers, { ...answer, answers: [] }] };
    return { ...entry, replies: replies + 1, ...added };
  });
}

/** With further answers to the entry with this id. */
export function withMore(entries: Entries, id: string, more: Entries): Entries {
  return withChange(entries, id, (entry) => {
    const { answers = [] } = entry;
    const known = new Set(answers.map((answer) => answer.id));
    return { ...entry, answers: [...answers, ...more.filter((answer) => !known.has(answer.id))] };
  });
}

/** Changes the entry with the id, however deep it is nested. */
function withChange(
  entries: Entries,
  id: string | undefined,
  change: (entry: PageEntry) => PageEntry,
): Entries {
  const changed = entries.map((entry) => {
    if (entry.id === id) return change(entry);
    const answers = entry.answers && withChange(entry.answers, id, change);
    return answers === entry.answers || answers === undefined ? entry : { ...entry, answers };
  });
  return changed.some((entry, at) => entry !== entries[at]) ? changed : entries;
}
