/** Changes entries with nested answers when a new answer comes, or more answers are loaded. */
import type { PageEntry } from './entry-data.ts';

type Entries = readonly PageEntry[];

/**
 * Adds an answer beneath the entry that it answers. Returns the same array if none of the entries, however
 * deep, is that one. The answers on show have no gap: if earlier ones are not loaded, the new one is only
 * counted.
 */
export function withAnswer(entries: Entries, answer: PageEntry): Entries {
  return withChange(entries, answer.inReplyTo, (entry) => {
    const { answers, replies = 0 } = entry;
    const isNext = answers?.length === replies;
    const added = answers && isNext && { answers: [...answers, { ...answer, answers: [] }] };
    return { ...entry, replies: replies + 1, ...added };
  });
}

export function withMore(entries: Entries, id: string, more: Entries): Entries {
  return withChange(entries, id, (entry) => {
    const { answers = [] } = entry;
    const known = new Set(answers.map((answer) => answer.id));
    return { ...entry, answers: [...answers, ...more.filter((answer) => !known.has(answer.id))] };
  });
}

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
