/**
 * Finds the newest entry of each identity, from the newest entry to older ones. A segment has a list of
 * the newest entry of each identity that it knows; entries that no such list has are walked in the log.
 */
import { FILTER_MEMBERS } from '@open-presence/protocol';

import { Turns } from '../../../fair-turns.ts';
import { FACET_SIZE, isOfText } from '../../../log/facet.ts';
import type { Entry, Seq } from '../../../log/log.ts';
import type { SeqRange } from '../seq-source.ts';
import { FacetSource, type FacetSources, placeOf } from './search/facet-source.ts';
import { takeSteps } from './search/search-steps.ts';

/** Entries that are walked at once: the log is read from old to new. */
const WALKED = 256;
const LISTED = 1024;
/** If a list has more entries than this after the range, it says too little about the range. */
const MAX_LATER = 64;
/** Identities that are remembered as found. Beyond this number, older entries are returned too. */
const MAX_FOUND = 65_536;
/** An entry's facets begin with kind and room. The members' facets follow, identities first. */
const FIRST = 2 * FACET_SIZE;
const END = FIRST + FILTER_MEMBERS.identity.length * FACET_SIZE;

const LATER = 'SELECT identity FROM newest WHERE seq > ? LIMIT ?';
const PAGE = 'SELECT identity, seq FROM newest WHERE seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?';

export interface NewestSources extends FacetSources {
  /** Undefined if the entry cannot be used. Then the one before it counts. */
  readonly usable: (seq: Seq) => Promise<Entry | undefined>;
}

interface Listed {
  readonly identity: string;
  readonly seq: Seq;
}

/** The newest usable entry of each identity, and perhaps others: each once, the newest first. */
export async function* newestOfIdentities(
  sources: NewestSources,
  { low, high }: SeqRange,
): AsyncGenerator<Entry, void, undefined> {
  const search = new NewestSearch(sources);
  for (let to = high; to >= low;) {
    const { segment, low: first } = placeOf(to, sources.shared);
    const range = { low: Math.max(low, first), high: to };
    to = segment === undefined ? to : yield* search.list(segment, range);
    if (to < range.low) continue;
    const walked = { low: Math.max(range.low, to - WALKED + 1), high: to };
    yield* search.walk(walked);
    to = walked.low - 1;
  }
}

class NewestSearch {
  readonly #sources: NewestSources;
  readonly #turns = new Turns();
  readonly #found = new Set<string>();
  /** The last entry that was returned: each of its identities has a row in a list. */
  #last: Seq | undefined;

  constructor(sources: NewestSources) {
    this.#sources = sources;
  }

  /** Reads the list of a segment. Returns the seq up to which the log has to be walked instead. */
  async *list(segment: number, { low, high }: SeqRange): AsyncGenerator<Entry, Seq, undefined> {
    /** Entries that count because newer ones of their identity cannot be used. The newest is last. */
    const older: Listed[] = [];
    const addOlder = async (identity: string, before: Seq): Promise<void> => {
      const seq = await this.#lastWith(identity, { low, high: before - 1 });
      if (seq === undefined) return;
      const at = older.findIndex((other) => other.seq > seq);
      older.splice(at < 0 ? older.length : at, 0, { identity, seq });
    };
    const later = new Set<string>();
    /**
     * Adds identities whose newest entry comes after the range. Returns false if there are too many, or if that
     * is unknown.
     */
    const addLater = async (to: Seq): Promise<boolean> => {
      const found = await this.#rows(segment, LATER, [high, MAX_LATER + 1]);
      if (found === undefined || found.length > MAX_LATER) return false;
      for (const { identity } of found) {
        if (!later.has(identity)) await addOlder(identity, to + 1);
        later.add(identity);
      }
      return true;
    };
    if (!(await addLater(high))) return high;
    for (let to = high; ;) {
      const rows = await this.#rows(segment, PAGE, [low, to, LISTED]);
      // A later entry, indexed since, took the row of its identity out of the range.
      if (rows === undefined || !(await addLater(to))) return to;
      const isLast = rows.length < LISTED;
      const end = isLast ? low - 1 : (rows.at(-1)?.seq ?? 0);
      // Other rows of the last entry may be on the next page.
      const page = rows.values().filter(({ seq }) => seq > end);
      let [row, next] = [page.next().value, older.at(-1)];
      for (; row !== undefined || (next?.seq ?? end) > end; next = older.at(-1)) {
        const isOlder = (next?.seq ?? end) > (row?.seq ?? end);
        const listed = isOlder ? older.pop() : row;
        if (!isOlder) row = page.next().value;
        if (listed === undefined) break;
        const { identity, seq } = listed;
        if (this.#turns.isOver) await this.#turns.next();
        if (this.#found.has(identity)) continue;
        const isGiven = this.#last === seq;
        const entry = isGiven ? undefined : await this.#sources.usable(seq);
        if (entry !== undefined) yield this.#give(entry);
        if (isGiven || entry !== undefined) this.#remember(identity);
        else await addOlder(identity, seq);
      }
      if (isLast) return low - 1;
      to = end;
    }
  }

  async *walk({ low, high }: SeqRange): AsyncGenerator<Entry, void, undefined> {
    const { log, usable } = this.#sources;
    const walked: { readonly seq: Seq; readonly keys: readonly string[] }[] = [];
    for (const { seq, facets } of log.rows({ from: low, to: high })) {
      walked.push({ seq, keys: identitiesIn(facets) });
      if (this.#turns.isOver) await this.#turns.next();
    }
    for (const { seq, keys } of walked.toReversed()) {
      if (this.#turns.isOver) await this.#turns.next();
      if (keys.every((key) => this.#found.has(key))) continue;
      const entry = await usable(seq);
      if (entry === undefined) continue;
      for (const key of keys) this.#remember(key);
      yield this.#give(entry);
    }
  }

  #give(entry: Entry): Entry {
    this.#last = entry.metadata.seq;
    return entry;
  }

  #remember(identity: string): void {
    if (this.#found.size < MAX_FOUND) this.#found.add(identity);
  }

  /** Undefined if the segment cannot be read now. */
  async #rows(
    segment: number,
    sql: string,
    parameters: readonly number[],
  ): Promise<readonly Listed[] | undefined> {
    const steps = this.#sources.reader.steps(segment, (index) =>
      index.statement(sql).all(...parameters),
    );
    const found = await takeSteps(steps, this.#turns);
    return found?.value.map(({ identity, seq }) => ({
      identity: Buffer.from(identity as Uint8Array).toString('latin1'),
      seq: Number(seq),
    }));
  }

  async #lastWith(identity: string, { low, high }: SeqRange): Promise<Seq | undefined> {
    const facets = [Buffer.from(identity, 'latin1')];
    const query = { facets, order: 'newest', low, high, signal: undefined } as const;
    const page = high < low ? undefined : await new FacetSource(this.#sources, query).page(high, 1);
    return page?.seqs[0];
  }
}

/** If there are few identities, other facets are among them: at worst, an older entry is returned too. */
export function identitiesIn(facets: Buffer): string[] {
  const identities: string[] = [];
  for (let at = FIRST; at < Math.min(END, facets.length); at += FACET_SIZE)
    if (isOfText(facets, at)) identities.push(facets.toString('latin1', at, at + FACET_SIZE));
  return identities;
}
