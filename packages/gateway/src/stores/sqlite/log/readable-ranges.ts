import type { Seq } from '../../../log/log.ts';
import { isSpoiled } from '../database.ts';

/** Seqs of consecutive entries. */
export interface SeqSpan {
  /** Inclusive. */
  readonly from: Seq;
  /** Inclusive. */
  readonly to: Seq;
}

/**
 * Reads a span of the log, divided where SQLite cannot read it as a whole, so that a spoiled page
 * costs the entries in it alone. `read` returns undefined for a span that it cannot use as a whole.
 */
export function* readSpans<T>(
  { from, to }: SeqSpan,
  read: (span: SeqSpan) => T | undefined,
): Generator<{ readonly span: SeqSpan; readonly rows: T }> {
  const rows = unlessSpoiled(() => read({ from, to }));
  if (rows !== undefined) yield { span: { from, to }, rows };
  if (rows !== undefined || from >= to) return;
  const middle = Math.floor((from + to) / 2);
  yield* readSpans({ from, to: middle }, read);
  yield* readSpans({ from: middle + 1, to }, read);
}

function unlessSpoiled<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isSpoiled(error)) return undefined;
    throw error;
  }
}
