/** Reading one page of entries, bounded by the head of the log and by the size of the page. */
import type { Entry, ReadEnd, Selection, Seq } from '../log/log.ts';

/** Entries of a page whose request has no `limit`. */
export const DEFAULT_LIMIT = 50;

/** Leaves out entries stored after the page was requested, and applies the default limit. */
export function pageSelection(
  selection: Selection,
  parameters: URLSearchParams,
  head: Seq,
): Selection {
  return {
    ...selection,
    ...(parameters.has('limit') ? {} : { limit: DEFAULT_LIMIT }),
    before: Math.min(selection.before ?? Infinity, head + 1),
  };
}

/**
 * Passes each entry to `add`, which returns its size in the page. The entry that makes the page
 * reach `fullAt` is its last one.
 */
export async function readPage(
  entries: AsyncGenerator<Entry, ReadEnd, undefined>,
  fullAt: number,
  add: (entry: Entry) => Promise<number>,
): Promise<ReadEnd> {
  let last: Seq | undefined;
  try {
    for (let size = 0; ;) {
      const step = await entries.next();
      if (step.done === true) return step.value;
      if (size >= fullAt) return { last, more: true };
      size += await add(step.value);
      last = step.value.stamp.seq;
    }
  } finally {
    await entries.return({ last: undefined, more: false });
  }
}
