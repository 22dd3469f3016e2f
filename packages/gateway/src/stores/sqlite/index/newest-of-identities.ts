/**
 * Finds the newest entry of each identity, by walking the log from the newest entry to older ones. The
 * cost follows the number of entries, not the number of their facets in the index.
 */
import { FILTER_MEMBERS } from '@open-presence/protocol';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { FACET_SIZE } from '../../../log/facet.ts';
import type { Entry, Seq } from '../../../log/log.ts';
import type { BlockReader } from '../log/block-reader.ts';
import type { SeqRange } from '../seq-source.ts';
import { facetKey } from './postings.ts';

/** Entries whose facets are read before the entries themselves: the log is read from old to new. */
const STRETCH = 256;
/** Identities that are remembered as found. Of more, older entries are given too. */
const MAX_FOUND = 65_536;
/** The facets of an entry are those of kind and room, then those of the members, identities first. */
const FIRST = 2 * FACET_SIZE;
const END = FIRST + FILTER_MEMBERS.identity.length * FACET_SIZE;

/**
 * The newest usable entry of each identity, and perhaps others: each once, the newest first. `read`
 * returns undefined for an entry that cannot be used: then the one before it counts.
 */
export async function* newestOfIdentities(
  blocks: BlockReader,
  { low, high }: SeqRange,
  read: (seq: Seq) => Promise<Entry | undefined>,
): AsyncGenerator<Entry, void, undefined> {
  const yieldTurn = yieldPeriodically();
  const found = new Set<string>();
  for (let to = high; to >= low; to -= STRETCH) {
    const stretch: { readonly seq: Seq; readonly keys: readonly string[] }[] = [];
    for (const { seq, facets } of blocks.rows({ from: Math.max(low, to - STRETCH + 1), to })) {
      stretch.push({ seq, keys: keysOf(facets) });
      await yieldTurn();
    }
    for (const { seq, keys } of stretch.toReversed()) {
      await yieldTurn();
      if (keys.every((key) => found.has(key))) continue;
      const entry = await read(seq);
      if (entry === undefined) continue;
      yield entry;
      for (const key of keys) if (found.size < MAX_FOUND) found.add(key);
    }
  }
}

/**
 * The facets of an entry's identities. If it has fewer than it may have, the facets that follow are among
 * them: at worst an older entry is given too.
 */
function keysOf(facets: Buffer): string[] {
  const keys: string[] = [];
  for (let at = FIRST; at < Math.min(END, facets.length); at += FACET_SIZE)
    keys.push(facetKey(facets, at));
  return keys;
}
