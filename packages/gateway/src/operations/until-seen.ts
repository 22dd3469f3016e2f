/** Callers who have seen more of the log than this gateway has, at another gateway of its cluster. */
import { namedSeq, referencedId, seqOfId } from '@open-presence/protocol';

import type { Log, Seq } from '../log/log.ts';

/** Parameters of a listing, or arguments that have their meaning; also the `id` of an entry. */
export type NamedValues = Iterable<readonly [name: string, value: unknown]>;

/**
 * Resolves when the log has every entry that the caller names. Undefined if it has them now. `newest`: of
 * another list of cursors.
 */
export function untilSeen(
  log: Pick<Log, 'head' | 'caughtUp'>,
  values: NamedValues,
  newest: number = log.head(),
): Promise<void> | undefined {
  for (const [name, value] of values)
    for (const one of [value].flat()) if (seqNamedBy(name, one) > newest) return log.caughtUp();
  return undefined;
}

/** The seq of an entry that the caller must have seen to say this; 0 for anything else. */
function seqNamedBy(name: string, value: unknown): Seq {
  if (typeof value !== 'string' && typeof value !== 'number') return 0;
  const seq = NAMED_BY.get(name)?.(String(value)) ?? 0;
  // No log has an entry beyond.
  return Number.isSafeInteger(seq) ? seq : 0;
}

/** A map, since names are visitors' words: an object has a member `constructor`. */
const NAMED_BY = new Map<string, (text: string) => Seq | undefined>([
  ['after', Number],
  ['before', (text) => Number(text) - 1],
  ['last-event-id', Number],
  ['id', seqOfReference],
  ['inReplyTo', seqOfReference],
  ['thread', seqOfReference],
]);

function seqOfReference(text: string): Seq | undefined {
  return namedSeq(text) ?? seqOfId(referencedId(text) ?? '');
}
