/** Finds the newest entry of each identity in the log itself, from the newest entry to older ones. */
import { FILTER_MEMBERS } from '@open-presence/protocol';

import { Turns } from '../../fair-turns.ts';
import { FACET_SIZE, isOfText } from '../../log/facet.ts';
import type { Entry, Seq } from '../../log/log.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { SeqRange } from '../seq-source.ts';

/** Entries that are read at once. */
const WINDOW = 256;
/** Identities that are remembered as found. Beyond this number, older entries are returned too. */
const MAX_FOUND = 65_536;
/** An entry's facets begin with kind and room. The members' facets follow, identities first. */
const FIRST = 2 * FACET_SIZE;
const END = FIRST + FILTER_MEMBERS.identity.length * FACET_SIZE;

/**
 * The newest usable entry of each identity, and perhaps others: each once, the newest first. `usable`: undefined
 * if the entry cannot be used; then the one before it counts.
 */
export async function* newestOfIdentities(
  log: RowReader,
  { low, high }: SeqRange,
  usable: (seq: Seq) => Promise<Entry | undefined>,
): AsyncGenerator<Entry, void, undefined> {
  const turns = new Turns();
  const found = new Set<string>();
  for (let to = high; to >= low; to -= WINDOW) {
    for (const { seq, facets } of log.newestFacets({ from: Math.max(low, to - WINDOW + 1), to })) {
      if (turns.isOver) await turns.next();
      const identities = identitiesIn(facets);
      const entry = identities.every((one) => found.has(one)) ? undefined : await usable(seq);
      if (entry === undefined) continue;
      for (const identity of identities) if (found.size < MAX_FOUND) found.add(identity);
      yield entry;
    }
  }
}

/** If there are few identities, other facets are among them: at worst, an older entry is returned too. */
function identitiesIn(facets: Uint8Array): string[] {
  const identities: string[] = [];
  for (let at = FIRST; at < Math.min(END, facets.length); at += FACET_SIZE)
    if (isOfText(facets, at))
      identities.push(Buffer.from(facets.subarray(at, at + FACET_SIZE)).toString('latin1'));
  return identities;
}
