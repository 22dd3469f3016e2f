/**
 * Finds the entries that have some facets: in the index, and in the rows of the log where these are not indexed
 * yet, or the index cannot be read.
 *
 * Invariant: Every filter finds an entry as soon as it is acknowledged.
 * Test: `test/log-contract/filtering.ts` “finds an entry by its kind and by its room as soon as it
 *   is appended”
 * Test: `test/log-contract/many-entries.ts` “lets a writer find at once what it wrote, while 20
 *   others write”
 */
import { Turns } from '../../fair-turns.ts';
import { isDerived } from '../../log/concern.ts';
import { FACET_SIZE, type Facet, type FacetCondition, facetsIn } from '../../log/facet.ts';
import type { Order, Seq } from '../../log/log.ts';
import { readable } from '../database.ts';
import type { RowReader, SeqSpan } from '../log/row-reader.ts';
import type { PageOf, SeqPage, SeqRange, SeqSource } from '../seq-source.ts';
import type { SharedState } from '../shared-state.ts';
import type { IndexReader } from './index-database.ts';
import { MatchQuery } from './match-query.ts';
import { Matches, pageAcross } from './matches.ts';
import { type SearchSteps, takeSteps } from './search-steps.ts';

/** Entries of the log that are looked at together, at first and at most. */
const FIRST_WINDOW = 128;
const MAX_WINDOW = 4096;
/** Entries that are looked at in a step. */
const STEP = 16;
/** More facets are found in a set. */
const MAX_FEW = 8;

export interface FacetSources {
  readonly log: RowReader;
  readonly index: IndexReader;
  readonly shared: SharedState;
}

export interface FacetQuery extends SeqRange {
  readonly facets: readonly FacetCondition[];
  readonly order: Order;
  readonly signal: AbortSignal | undefined;
  /** `include`: as `Selection.withheld`; `all`: hidden entries as if they were shown. */
  readonly withheld: 'include' | 'all' | undefined;
}

export class FacetSource implements SeqSource {
  readonly #sources: FacetSources;
  readonly #query: FacetQuery;
  readonly #match: MatchQuery;
  readonly #turns: Turns;
  #window = FIRST_WINDOW;

  constructor(sources: FacetSources, query: FacetQuery) {
    this.#sources = sources;
    this.#query = query;
    this.#turns = new Turns(query.signal);
    this.#match = new MatchQuery(query);
  }

  async page(from: Seq, limit: number): Promise<SeqPage> {
    const { low, high, order, signal } = this.#query;
    const range = order === 'newest' ? { low, high: from } : { low: from, high };
    const steps = pageAcross(this.#sources.shared, { ...range, order, limit }, (wanted, part) =>
      this.#find(wanted, part),
    );
    return await takeSteps(steps, this.#turns, signal);
  }

  *#find(wanted: PageOf, part: number | undefined): SearchSteps<SeqPage> {
    const { index } = this.#sources;
    try {
      const all = this.#query.withheld !== undefined;
      if (part !== undefined)
        return yield* new Matches(index, this.#match, { part, all }).page(wanted);
    } catch (error) {
      index.failed(error);
    }
    return yield* this.#inLog(wanted);
  }

  /** Looks at some of the entries. */
  *#inLog({ low, high, order, limit }: PageOf): SearchSteps<SeqPage> {
    const isNewest = order === 'newest';
    const from = isNewest ? Math.max(low, high - this.#window + 1) : low;
    const to = isNewest ? high : Math.min(high, low + this.#window - 1);
    this.#window = Math.min(MAX_WINDOW, 2 * this.#window);
    const { facets, withheld } = this.#query;
    const found = yield* seqsWith(this.#sources, facets, { from, to, all: withheld === 'all' });
    const seqs = (isNewest ? found.toReversed() : found).slice(0, limit);
    const end = isNewest ? from : to;
    const last = (found.length > limit ? seqs.at(-1) : undefined) ?? end;
    return { seqs, next: isNewest ? last - 1 : last + 1 };
  }
}

/**
 * The entries of a span that meet all conditions, ascending, by their rows. Leaves out what cannot be read. `all`: hidden
 * entries as if they were shown.
 */
export function* seqsWith(
  { log }: Pick<FacetSources, 'log'>,
  conditions: readonly FacetCondition[],
  { all = false, ...span }: SeqSpan & { readonly all?: boolean },
): SearchSteps<Seq[]> {
  const seqs: Seq[] = [];
  const isDeep = conditions.some(hasDerived);
  for (const row of log.rows(span)) {
    if (row.seq % STEP === 0) yield;
    const own = all && row.withheld?.state === 'hidden' ? row.storedFacets : row.facets;
    const facets = isDeep ? Buffer.concat([own, log.answered.derived(row)]) : own;
    if (meets(facets, conditions)) seqs.push(row.seq);
  }
  return seqs;
}

function meets(facets: Buffer, conditions: readonly FacetCondition[]): boolean {
  return testsOf(conditions).every((test) => test(facets));
}

/**
 * Tells of entries that the index finds whether they meet the conditions now: it has all facets of hidden entries, and
 * of answers who is hidden in what they answer. Undefined where it tells enough.
 */
export function meetsNow(
  log: RowReader,
  conditions: readonly FacetCondition[],
  isIncluding: boolean,
): ((seq: Seq) => boolean) | undefined {
  const isDeep = conditions.some(hasDerived);
  if (!isDeep && !isIncluding) return undefined;
  return (seq) => {
    if (log.withheld.follow().isEmpty || (!isDeep && !log.withheld.has(seq))) return true;
    const row = readable(() => log.entry(seq));
    if (row === undefined) return true;
    const facets = isDeep ? Buffer.concat([row.facets, log.answered.derived(row)]) : row.facets;
    return meets(facets, conditions);
  };
}

function hasDerived(condition: FacetCondition): boolean {
  if (condition instanceof Uint8Array)
    return condition.length === FACET_SIZE && isDerived(condition);
  return condition.slice(0, MAX_FEW).some(isDerived);
}

/** Whether one of the facets of a condition is among these. */
type FacetTest = (facets: Buffer) => boolean;

/** A test for each condition: that an entry has its facet, or any facet of its list. */
function* testsOf(conditions: readonly FacetCondition[]): Generator<FacetTest, void, undefined> {
  for (const condition of conditions) {
    if (condition instanceof Uint8Array)
      // A match between two facets would be one of 128 bits of their digests.
      for (const facet of facetsIn(condition)) yield (facets) => facets.indexOf(facet) >= 0;
    else if (condition.length <= MAX_FEW)
      yield (facets) => condition.some((facet) => facets.indexOf(facet) >= 0);
    else yield listTest(condition);
  }
}

const sets = new WeakMap<readonly Facet[], ReadonlySet<string>>();

function listTest(list: readonly Facet[]): FacetTest {
  const keys =
    sets.get(list) ?? new Set(list.map((facet) => Buffer.from(facet).toString('latin1')));
  sets.set(list, keys);
  return (facets) => {
    for (let at = 0; at < facets.length; at += FACET_SIZE)
      if (keys.has(facets.toString('latin1', at, at + FACET_SIZE))) return true;
    return false;
  };
}
