/** Finds the newest entry with each facet, from the newest part of the log to older ones. */
import { FACET_SIZE } from '../../../log/facet.ts';
import { yieldPeriodically } from '../../../fair-turns.ts';
import type { Entry, Seq } from '../../../log/log.ts';
import type { SeqRange } from '../seq-source.ts';
import { FacetSearch, type FacetSources, placeOf, placesOf } from './facet-search.ts';
import type { IndexSource } from './index-connection.ts';
import {
  atOrBelow,
  facetKey,
  partOf,
  PART_SIZE,
  type PostingsPlace,
  readOffsets,
  SpoiledIndex,
} from './postings.ts';

/** All entries of a shorter stretch, or of one that only the log has, are candidates. */
const MAX_UNINDEXED = 256;
/** Facets that are remembered as found. Of more, an entry may be a candidate again in an older stretch. */
const MAX_FOUND = 65_536;

/** Facets that are looked up together. */
const FACETS_PER_QUERY = 4096;
/** The next facets of a part, concatenated: a row for each would cost more. */
const FACETS = `SELECT CAST(group_concat(facet, '') AS BLOB) AS facets FROM (
  SELECT DISTINCT facet FROM postings WHERE part = ? AND facet > ? ORDER BY facet
  LIMIT ${FACETS_PER_QUERY})`;

interface Candidate {
  readonly seq: Seq;
  /** A key (see `facetKey`) of which it is the newest; undefined where the facets are not known. */
  readonly facet: string | undefined;
}

/** Seqs next to each other that are looked up together. */
interface Stretch {
  readonly low: Seq;
  /** The newest last. */
  readonly candidates: Candidate[];
}

export class NewestOfFacets {
  readonly #sources: FacetSources;
  readonly #found = new Set<string>();
  readonly #low: Seq;
  #high: Seq;

  constructor(sources: FacetSources, { low, high }: SeqRange) {
    this.#sources = sources;
    this.#low = low;
    this.#high = high;
  }

  /** The next stretch, or undefined after the last. Yields between pieces of some milliseconds. */
  *nextStretch(): Generator<void, Stretch | undefined, void> {
    if (this.#high < this.#low) return undefined;
    for (;;) {
      try {
        const stretch = yield* this.#stretchTo(this.#high);
        this.#high = stretch.low - 1;
        return stretch;
      } catch (error) {
        // The index is not looked into again until it has been made again.
        if (!(error instanceof SpoiledIndex)) throw error;
      }
    }
  }

  /** The facet is no longer looked for in older stretches. */
  markFound({ facet }: Candidate): void {
    if (facet !== undefined && this.#found.size < MAX_FOUND) this.#found.add(facet);
  }

  /** The newest entry before the candidate, in the same stretch, that has its facet. */
  before({ seq, facet }: Candidate, { low }: Stretch): Candidate | undefined {
    if (facet === undefined) return undefined;
    const query = { facets: [Buffer.from(facet, 'latin1')], order: 'newest', until: low } as const;
    const search = new FacetSearch(this.#sources, query);
    for (let from: Seq | undefined = seq - 1; from !== undefined && from >= low;) {
      const page = search.page(from, 1);
      const [found] = page.seqs;
      if (found !== undefined) return { seq: found, facet };
      from = page.next;
    }
    return undefined;
  }

  *#stretchTo(high: Seq): Generator<void, Stretch, void> {
    const { index, tail, shared } = this.#sources;
    const places = placesOf(this.#sources);
    if (high - this.#low < MAX_UNINDEXED) return everySeq(this.#low, high);
    if (high >= places.tail) {
      const low = Math.max(this.#low, places.tail);
      return this.#stretch(low, tail.newest(low, high));
    }
    // Each row of postings has its own checksum, so they need not have been checked since the start.
    if (high > shared.indexed || shared.indexSpoiled) {
      const [first] = placeOf(high, places);
      return everySeq(Math.max(this.#low, first, high - MAX_UNINDEXED + 1), high);
    }
    const part = partOf(high);
    const low = Math.max(this.#low, part * PART_SIZE);
    const newest = new Map<string, Seq>();
    const place = { part, offset: high % PART_SIZE };
    for (const found of newestPostings(index, place, (facet) => this.#found.has(facet))) {
      for (const [facet, offset] of found) newest.set(facet, part * PART_SIZE + offset);
      yield;
    }
    return this.#stretch(low, newest);
  }

  #stretch(low: Seq, newest: ReadonlyMap<string, Seq>): Stretch {
    const candidates = [...newest]
      .filter(([facet, seq]) => seq >= low && !this.#found.has(facet))
      .map(([facet, seq]) => ({ seq, facet }));
    return { low, candidates: candidates.toSorted((a, b) => a.seq - b.seq) };
  }
}

/**
 * The newest usable entry with each facet, and perhaps others: each once, the newest first. `read`
 * returns undefined for an entry that cannot be used: then the one before it counts.
 */
export async function* usableNewest(
  newest: NewestOfFacets,
  read: (seq: Seq) => Promise<Entry | undefined>,
): AsyncGenerator<Entry, void, undefined> {
  const yieldTurn = yieldPeriodically();
  for (;;) {
    const steps = newest.nextStretch();
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) await yieldTurn();
    const stretch = step.value;
    if (stretch === undefined) return;
    const { candidates } = stretch;
    let last: { readonly seq: Seq; readonly isUsable: boolean } | undefined;
    for (let next = candidates.pop(); next !== undefined; next = candidates.pop()) {
      if (next.seq !== last?.seq) {
        const entry = await read(next.seq);
        last = { seq: next.seq, isUsable: entry !== undefined };
        if (entry !== undefined) yield entry;
      }
      if (last.isUsable) newest.markFound(next);
      else addCandidate(candidates, newest.before(next, stretch));
      await yieldTurn();
    }
  }
}

function addCandidate(candidates: Candidate[], added: Candidate | undefined): void {
  if (added === undefined) return;
  const index = candidates.findLastIndex(({ seq }) => seq <= added.seq);
  candidates.splice(index + 1, 0, added);
}

function everySeq(low: Seq, high: Seq): Stretch {
  const candidates = Array.from({ length: high - low + 1 }, (_, index) => ({
    seq: low + index,
    facet: undefined,
  }));
  return { low, candidates };
}

/**
 * For each facet in a part that is not known, its key and its greatest offset up to this one; some facets
 * at a time. Throws `SpoiledIndex`.
 */
function* newestPostings(
  index: IndexSource,
  { part, offset }: Omit<PostingsPlace, 'facet'>,
  isKnown: (facet: string) => boolean,
): Generator<[string, number][], void, undefined> {
  for (let facets: Buffer = Buffer.alloc(0); ;) {
    const after = facets.subarray(-FACET_SIZE);
    const read = index.read(FACETS, (find) => find.get(part, after));
    if (read === undefined) throw new SpoiledIndex('The index cannot be read.');
    facets = Buffer.from((read['facets'] as Uint8Array | null) ?? []);
    const found: [string, number][] = [];
    for (let at = 0; at < facets.length; at += FACET_SIZE) {
      const key = facetKey(facets, at);
      if (isKnown(key)) continue;
      const facet = facets.subarray(at, at + FACET_SIZE);
      const newest = atOrBelow(readOffsets(index, 'newest', { part, facet, offset }), offset);
      if (newest !== undefined) found.push([key, newest]);
    }
    yield found;
    if (facets.length < FACETS_PER_QUERY * FACET_SIZE) return;
  }
}
