/** Queries for words and facets in the syntax of FTS5: neither has special characters. */
import { FACET_SIZE, type Facet, type FacetCondition, facetsIn } from '../../log/facet.ts';
import {
  termList,
  termsIn,
  type Term,
  type TermList,
  type TextQuery,
} from '../../log/text-query.ts';
import { facetToken } from './entry-tokens.ts';

/** Terms per statement: FTS5 opens a cursor for each, and copies everything left of an operator. */
const MAX_TERMS = 16;
/** A prefix costs as much as this many words: FTS5 merges all words that begin with it. */
const PREFIX_WEIGHT = 8;
/** The token of no facet. */
const NOTHING = `"${facetToken(Buffer.of(0))}"`;
/** Facets that are looked up together with others. */
const MAX_FEW = 8;
/** Facets in a statement of their own. */
const MAX_FACETS = 16;

/**
 * Entries of a part: a row's id is the seq. Node.js binds numbers as reals, but FTS5 uses a bound only if it is an integer. With a
 * real, it would read every row of a term.
 */
export const IN_ALL_ROWS: string = 'rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)';

export const SHOWN: string = 'rowid NOT IN (SELECT seq FROM left_out)';

/** The same without what is withheld or hidden. */
export const IN_ROWS: string = `${IN_ALL_ROWS} AND ${SHOWN}`;

/** What entries must have. */
export interface Conditions {
  readonly facets: readonly FacetCondition[];
  readonly textQuery?: TextQuery | undefined;
}

/** Holds for a row that one of the queries matches. */
export interface RowCondition {
  /** As few as statements can be: a condition may have very many terms. */
  readonly queries: () => Iterable<string>;
  readonly isExcluded: boolean;
}

const NO_TERMS: TermList = termList([]);

/** Conditions as statements can look them up. */
export class MatchQuery {
  /** A row matches if one of these queries finds it and `rest` holds for it. */
  readonly first: () => Iterable<string>;
  /** The conditions that all queries of `first` share, if alternatives make several queries. */
  readonly common: string | undefined;
  readonly rest: readonly RowCondition[];
  /** The one query that is all of that; undefined where there are several. */
  readonly whole: string | undefined;
  /** How many words and phrases a text must have. */
  readonly terms: number;

  constructor({ facets, textQuery }: Conditions) {
    const all = textQuery?.all ?? NO_TERMS;
    const none = textQuery?.none ?? NO_TERMS;
    const { few, lists, rest } = divide(facets);
    const [required = []] = batchesOf(all);
    const [excluded = []] = batchesOf(none);
    const parts = [...few, ...joined(required, 'AND')];
    const without = joined(excluded, 'OR');
    const [distributed, ...others] = lists;
    const isDistributed = distributed !== undefined && parts.length > 0;
    this.common = isDistributed ? matchAll(parts) : undefined;
    this.first = function* first() {
      for (const list of distributed === undefined ? [[]] : listQueries(distributed)) {
        const whole = matchAll([...parts, ...[list].flat()]);
        yield without.length === 0 ? whole : `(${whole}) NOT (${without.join('')})`;
      }
    };
    this.rest = [
      ...others.map((list) => ({ queries: () => listQueries(list), isExcluded: false })),
      ...rest.map((query) => ({ queries: () => [query()], isExcluded: false })),
      ...conditionsOf(all, 'AND', false),
      ...conditionsOf(none, 'OR', true),
    ];
    const [whole, second] = this.first();
    this.whole = second === undefined && this.rest.length === 0 ? whole : undefined;
    this.terms = all.count;
  }
}

/** Divides facets into queries that are looked up together, long lists of alternatives, and further queries. */
function divide(conditions: readonly FacetCondition[]): {
  readonly few: readonly string[];
  readonly lists: readonly (readonly Facet[])[];
  readonly rest: readonly (() => string)[];
} {
  const few: string[] = [];
  const lists: (readonly Facet[])[] = [];
  const rest: (() => string)[] = [];
  let left = MAX_FACETS;
  for (const condition of conditions) {
    const size = condition.length / (condition instanceof Uint8Array ? FACET_SIZE : 1);
    const isFew = size <= Math.min(left, MAX_FEW);
    if (isFew) left -= size;
    if (isFew)
      few.push(condition instanceof Uint8Array ? allFacets(condition) : anyFacet(condition));
    else if (!(condition instanceof Uint8Array)) lists.push(condition);
    else
      for (let at = 0; at < condition.length; at += MAX_FACETS * FACET_SIZE)
        rest.push(() => allFacets(condition.subarray(at, at + MAX_FACETS * FACET_SIZE)));
  }
  // The statements before the others must match something.
  const [first, ...others] = rest;
  const isAlone = few.length === 0 && lists.length === 0 && first !== undefined;
  return isAlone ? { few: [first()], lists, rest: others } : { few, lists, rest };
}

/**
 * FTS5 moves all parts of an AND forward together. The first condition is often the kind or the room of a
 * listing, which most entries have, so FTS5 would look it up for each match of any other. A NOT is one part:
 * only entries that match all of it are looked up in the first condition.
 */
function matchAll([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `((${others.join(' AND ')}) NOT ${NOTHING}) AND ${first}`;
}

function* listQueries(list: readonly Facet[]): Generator<string, void, undefined> {
  for (let at = 0; at < list.length; at += MAX_FACETS)
    yield anyFacet(list.slice(at, at + MAX_FACETS));
}

/** Matches rows with one of these. */
export function anyFacet(facets: readonly Facet[]): string {
  return `(${facets.map(facetPhrase).join(' OR ')})`;
}

function allFacets(facets: Uint8Array): string {
  return `(${Array.from(facetsIn(facets), facetPhrase).join(' AND ')})`;
}

function facetPhrase(facet: Facet): string {
  return `"${facetToken(facet)}"`;
}

/** A condition for each batch of terms but the first. */
function conditionsOf(
  terms: TermList,
  operator: 'AND' | 'OR',
  isExcluded: boolean,
): RowCondition[] {
  const batches = batchesOf(terms).drop(1);
  return Array.from(batches, (batch) => ({ queries: () => joined(batch, operator), isExcluded }));
}

function phrase({ words, isPrefix }: Term): string {
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`;
}

function joined(terms: readonly Term[], operator: 'AND' | 'OR'): string[] {
  return terms.length === 0 ? [] : [`(${terms.map(phrase).join(` ${operator} `)})`];
}

/** The terms, in groups that fit into one statement. */
function* batchesOf(list: TermList): Generator<readonly Term[], void, undefined> {
  let batch: Term[] = [];
  let weight = 0;
  for (const term of termsIn(list)) {
    batch.push(term);
    weight += term.isPrefix ? PREFIX_WEIGHT : term.words.length;
    if (weight < MAX_TERMS) continue;
    yield batch;
    batch = [];
    weight = 0;
  }
  if (batch.length > 0) yield batch;
}
