/** What happens to entries with nested answers when another answer comes. */
import type { PageEntry } from './entry-data.ts';

/** The same entries where none of them, and none of their answers, is answered by this one. */
export function withAnswer(entries: readonly PageEntry[], answer: PageEntry): readonly PageEntry[] {
  const changed = entries.map((entry) => answeredBy(entry, answer));
  return changed.some((entry, at) => entry !== entries[at]) ? changed : entries;
}

function answeredBy(entry: PageEntry, answer: PageEntry): PageEntry {
  const { id, answers, replies = 0 } = entry;
  if (id === answer.inReplyTo) {
    const added = answers && { answers: [...answers, { ...answer, answers: [] }] };
    return { ...entry, replies: replies + 1, ...added };
  }
  const changed = answers && withAnswer(answers, answer);
  return changed === undefined || changed === answers ? entry : { ...entry, answers: changed };
}
