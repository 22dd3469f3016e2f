/** Reading one page of entries, bounded by the head of the log and by the size of the page. */
import type { Entry, ReadEnd, Selection, Seq } from '../log/log.ts';

/** Entries of a page whose request has no `limit`. */
export const DEFAULT_LIMIT = 50;

/** Leaves out entries later than `last`, such as those stored after the page was requested. */
export function boundedSelection<Wanted extends Selection>(
  selection: Wanted,
  last: Seq,
): Wanted & { readonly before: Seq } {
  return { ...selection, before: Math.min(selection.before ?? Infinity, last + 1) };
}

/** Leaves out entries later than the head, and applies the default limit. */
export function pageSelection(
  selection: Selection,
  parameters: URLSearchParams,
  head: Seq,
): Selection {
  const limit = parameters.has('limit') ? {} : { limit: DEFAULT_LIMIT };
  return boundedSelection({ ...selection, ...limit }, head);
}

/** `add` returns the size of an entry in the page, undefined if it does not fit. The page ends when it reaches `fullAt`. */
export async function readPage<Read extends Entry>(
  entries: AsyncGenerator<Read, ReadEnd, undefined>,
  fullAt: number,
  add: (entry: Read) => Promise<number | undefined>,
): Promise<ReadEnd> {
  let last: Seq | undefined;
  try {
    for (let size = 0; ;) {
      const step = await entries.next();
      if (step.done === true) return step.value;
      if (size >= fullAt) return { last, more: true };
      const added = await add(step.value);
      if (added === undefined) return { last, more: true };
      size += added;
      last = step.value.metadata.seq;
    }
  } finally {
    await entries.return({ last: undefined, more: false });
  }
}
