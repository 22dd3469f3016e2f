/** Parses query parameters into a selection (PROTOCOL.md section 8.2). */
import {
  FILTER_NAMES,
  isKind,
  KINDS,
  namedSeq,
  referencedId,
  SELECTOR_NAMES,
  seqOfId,
  type Filter,
} from '@open-presence/protocol';

import { concerns } from '../log/concern.ts';
import { facet, FACET_SIZE, type FacetCondition, seqNamedIn } from '../log/facet.ts';
import type { Log, Order, Selection, Seq } from '../log/log.ts';
import type { TextQuery } from '../log/text-query.ts';
import { threadFacet } from '../log/thread.ts';
import type { Grammar } from './grammar.ts';
import {
  foreignCursor,
  invalidParameter,
  MAX_FAULTS,
  parameterError,
  type ParameterFault,
  quote,
} from './parameter-faults.ts';
import { parseTextQuery, type TextQueryFault } from './parse-text-query.ts';
import { parseTime } from './parse-time.ts';

/** What the parameters select from. */
export interface SelectionScope {
  readonly grammar: Grammar;
  /** Facets that the path demands: of a kind, a room, or the entry that others reply to. */
  readonly facets: readonly FacetCondition[];
  /** The only kind or room of its entries: the parameter may only repeat it. */
  readonly fixed?: { readonly kind?: string; readonly room?: string };
  /** Further values of `kind`, which select no entries. */
  readonly otherKinds?: readonly string[];
  /** Whether results can be ordered by rank too, by `order=best`. */
  readonly hasBest?: boolean;
  /** How errors call what is read: "the garden". */
  readonly subject: string;
  /** The log that has the entries that `thread` names. Without it, `thread` and `concerns` are no parameters. */
  readonly log?: Pick<Log, 'head' | 'id' | 'entry'>;
  /** Whether `after` may be beyond the head of the log. */
  readonly takesForeignCursor?: true;
}

const COUNT = 'a whole number from 0';
const SECONDS = 'a number of seconds from 0';
const CURSOR = 'a cursor (a seq) from an earlier answer';
const THREAD = 'the "id" or "seq" of an entry';
/** No entry has this seq. */
const NO_THREAD = Number.MAX_SAFE_INTEGER;
const TIME = 'an ISO 8601 date or date-time, such as 2026-11-21 or 2026-11-21T09:37:00Z';

/**
 * Every occurrence of a repeated parameter applies. Ignores `q`, whose meaning is `query`. Throws
 * `invalid-parameter` with all unusable values, or `unknown-room` or `unknown-kind` if that is the only
 * fault.
 */
export async function parseSelection(
  parameters: URLSearchParams,
  listing: SelectionScope,
  query?: TextQuery | TextQueryFault,
): Promise<Selection> {
  const selection = await read(parameters, listing.subject, async (reader): Promise<Selection> => {
    const order = reader.order(listing.hasBest === true);
    const limit = reader.bound('limit', parseInteger, COUNT, Math.min);
    const after = reader.bound('after', parseInteger, CURSOR, Math.max);
    const before = reader.bound('before', parseInteger, CURSOR, Math.min);
    const since = reader.bound('since', parseTime, TIME, Math.max);
    const until = reader.bound('until', parseTime, TIME, Math.min);
    const related = listing.log === undefined ? [] : await reader.related(listing.log);
    const given = [...listing.facets, ...reader.facets(listing), ...related];
    const facets = listing.log === undefined ? given : await withIds(listing.log, given);
    const textQuery = reader.textQuery(query);
    const withheld = reader.withheld();
    // Their values are read elsewhere: here they are among the faults.
    reader.bound('wait', parseSeconds, SECONDS, Math.max);
    reader.bound('skip', parseInteger, COUNT, Math.max);
    return {
      facets,
      order,
      ...(textQuery === undefined ? withheld : { textQuery }),
      ...(after === undefined ? {} : { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
      ...(isReachable(before) ? { before } : {}),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(isReachable(limit) ? { limit } : {}),
    };
  });
  const { log, subject, takesForeignCursor = false } = listing;
  const { after = 0 } = selection;
  if (log !== undefined && !takesForeignCursor && after > log.head()) {
    const sent = parameters.getAll('after').find((text) => Number(text) >= after);
    throw foreignCursor(sent ?? String(after), log, subject);
  }
  return selection;
}

/** As `parseSelection`, with `q`. */
export async function parseSearchSelection(
  parameters: URLSearchParams,
  listing: SelectionScope,
): Promise<Selection> {
  const queries = parameters.getAll('q');
  const query = queries.length === 0 ? undefined : await parseTextQuery(queries);
  return await parseSelection(parameters, listing, query);
}

/** The parameter `wait`, given in seconds, in ms; the longest of several. Throws `invalid-parameter`. */
export async function parseWait(
  parameters: URLSearchParams,
  subject: string,
): Promise<number | undefined> {
  const seconds = await read(parameters, subject, async (reader) =>
    reader.bound('wait', parseSeconds, SECONDS, Math.max),
  );
  return seconds === undefined ? undefined : seconds * 1000;
}

/** How many of the best results to skip; the most of several. Throws `invalid-parameter`. */
export async function parseSkip(parameters: URLSearchParams, subject: string): Promise<number> {
  const skip = await read(parameters, subject, async (reader) =>
    reader.bound('skip', parseInteger, COUNT, Math.max),
  );
  return Math.min(skip ?? 0, Number.MAX_SAFE_INTEGER);
}

/** The header `Last-Event-ID`, or the parameter `name`. Throws `invalid-parameter`. */
export function parseCursor(text: string, subject: string, name = 'Last-Event-ID'): Seq {
  const cursor = parseInteger(text);
  if (cursor !== undefined) return Math.min(cursor, Number.MAX_SAFE_INTEGER);
  const detail = `"${name}" must be ${CURSOR}, got ${quote(text)}`;
  throw parameterError([invalidParameter(name, detail)], subject);
}

/** A maximum that no log can reach selects everything. */
function isReachable(number: number | undefined): number is number {
  return number !== undefined && number <= Number.MAX_SAFE_INTEGER;
}

const BOUNDS = ['order', 'limit', 'skip', 'after', 'before', 'since', 'until', 'wait', 'withheld'];
/** The parameters whose values are read. */
const USED: ReadonlySet<string> = new Set([...BOUNDS, 'room', 'kind', ...SELECTOR_NAMES]);

class ParameterReader {
  readonly faults: ParameterFault[] = [];
  /** The different values of each parameter. */
  readonly #values = new Map<string, Set<string>>();

  constructor(parameters: URLSearchParams) {
    for (const [name, value] of parameters) {
      if (!USED.has(name)) continue;
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, new Set([value]));
      else values.add(value);
    }
  }

  order(hasBest: boolean): Order {
    const wanted = hasBest ? '"best", "newest" or "oldest"' : '"newest" or "oldest"';
    const isKnown = (text: string): boolean => isOrder(text) || (hasBest && text === 'best');
    const parse = (text: string): string | undefined => (isKnown(text) ? text : undefined);
    const orders = this.#parsed('order', parse, wanted);
    const [first = 'newest'] = orders;
    if (orders.some((order) => order !== first)) {
      this.#addInvalid('order', `either ${wanted}`, 'several of them');
    }
    return isOrder(first) ? first : 'newest';
  }

  withheld(): Pick<Selection, 'withheld'> {
    const parse = (text: string): string | undefined => (text === 'include' ? text : undefined);
    const asked = this.#parsed('withheld', parse, '"include"');
    return asked.length === 0 ? {} : { withheld: 'include' };
  }

  /** The strictest value of a parameter. */
  bound(
    name: string,
    parse: (text: string) => number | undefined,
    wanted: string,
    stricter: (a: number, b: number) => number,
  ): number | undefined {
    const numbers = this.#parsed(name, parse, wanted);
    return numbers.length === 0 ? undefined : numbers.reduce((a, b) => stricter(a, b));
  }

  /** Several rooms, or kinds, are alternatives: an entry has one of each. */
  facets({ grammar, fixed, otherKinds = [] }: SelectionScope): readonly FacetCondition[] {
    const rooms = this.#names('room', [...grammar.rooms], fixed?.room);
    const allKinds = [...KINDS, ...otherKinds];
    const kinds = this.#names('kind', allKinds, fixed?.kind, otherKinds).filter(isKind);
    const conditions = [
      rooms.map((slug) => facet('room', slug)),
      kinds.map((kind) => facet('kind', kind)),
    ].flatMap((any): FacetCondition[] => {
      const [first] = any;
      if (first === undefined) return [];
      return any.length === 1 ? [first] : [any];
    });
    for (const filter of FILTER_NAMES) {
      const values = this.#values.get(filter);
      if (values !== undefined) conditions.push(joined(filter, values));
    }
    return conditions;
  }

  /** The threads of these entries, and what concerns these visitors. */
  async related(log: Pick<Log, 'entry'>): Promise<readonly FacetCondition[]> {
    const threads = new Set<Seq>();
    for (const text of this.#values.get('thread') ?? []) {
      const id = referencedId(text);
      const seq = namedSeq(text) ?? seqOfId(id ?? '');
      if (seq === undefined) this.#addInvalid('thread', THREAD, quote(text));
      else {
        const entry = await log.entry(seq);
        const isThere = entry !== undefined && (id ?? entry.metadata.id) === entry.metadata.id;
        threads.add(isThere ? entry.thread : NO_THREAD);
      }
    }
    const conditions: FacetCondition[] = Array.from(threads, threadFacet);
    for (const name of this.#values.get('concerns') ?? []) {
      conditions.push(concerns(name));
    }
    return conditions;
  }

  /** The known values of the parameter. Each other value becomes a fault. */
  #names(
    name: 'room' | 'kind',
    known: readonly string[],
    fixed: string | undefined,
    otherKinds: readonly string[] = [],
  ): string[] {
    const found: string[] = [];
    for (const value of this.#values.get(name) ?? []) {
      if (!known.includes(value)) this.#addUnknown(name, value, known);
      else if (fixed !== undefined && value !== fixed && !otherKinds.includes(value)) {
        const elsewhere = `${quote(value)}: what is listed here has the ${name} ${quote(fixed)} only; request /api/entries?${name}=${value} instead`;
        this.#addInvalid(name, quote(fixed), elsewhere);
      } else found.push(value);
    }
    return found;
  }

  textQuery(parsed: TextQuery | TextQueryFault | undefined): TextQuery | undefined {
    if (parsed === undefined || 'all' in parsed) return parsed;
    this.#addInvalid('q', parsed.wanted, quote(parsed.got));
    return undefined;
  }

  #parsed<Value>(
    name: string,
    parse: (text: string) => Value | undefined,
    wanted: string,
  ): Value[] {
    const parsed: Value[] = [];
    for (const text of this.#values.get(name) ?? []) {
      const value = parse(text);
      if (value === undefined) this.#addInvalid(name, wanted, quote(text));
      else parsed.push(value);
    }
    return parsed;
  }

  #addInvalid(parameter: string, wanted: string, got: string): void {
    this.#add(invalidParameter(parameter, `"${parameter}" must be ${wanted}, got ${got}`));
  }

  #addUnknown(parameter: 'room' | 'kind', value: string, known: readonly string[]): void {
    const code = `unknown-${parameter}` as const;
    const detail = `"${parameter}" must be one of ${known.join(', ')}, got ${quote(value)}`;
    this.#add({ code, fault: { parameter, detail }, known });
  }

  #add(fault: ParameterFault): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(fault);
  }
}

function joined(filter: Filter, values: ReadonlySet<string>): FacetCondition {
  const facets = new Uint8Array(values.size * FACET_SIZE);
  for (const [index, value] of [...values].entries())
    facets.set(facet(filter, value), index * FACET_SIZE);
  return facets;
}

/** Answers have a facet of the id of what they answer, also where they name it by its seq. */
async function withIds(
  log: Pick<Log, 'entry'>,
  conditions: readonly FacetCondition[],
): Promise<readonly FacetCondition[]> {
  const found: FacetCondition[] = [];
  for (const condition of conditions) {
    const copy = condition instanceof Uint8Array ? Uint8Array.from(condition) : condition;
    found.push(copy);
    if (!(copy instanceof Uint8Array)) continue;
    for (let at = 0; at < copy.length; at += FACET_SIZE) {
      const seq = seqNamedIn(copy.subarray(at, at + FACET_SIZE));
      const entry = seq === undefined ? undefined : await log.entry(seq);
      if (entry !== undefined) copy.set(facet('inReplyTo', entry.metadata.id), at);
    }
  }
  return found;
}

/** Throws for the faults that `parse` finds. */
async function read<Value>(
  parameters: URLSearchParams,
  subject: string,
  parse: (reader: ParameterReader) => Promise<Value>,
): Promise<Value> {
  const reader = new ParameterReader(parameters);
  const value = await parse(reader);
  if (reader.faults.length > 0) throw parameterError(reader.faults, subject);
  return value;
}

export function isOrder(text: string): text is Order {
  return text === 'newest' || text === 'oldest';
}

/** A number of seconds, undefined for anything else. */
export function parseSeconds(text: string): number | undefined {
  return /^[0-9]+(?:\.[0-9]*)?$/.test(text) ? Number(text) : undefined;
}

/** A whole number from 0. Not exact beyond 2^53, which no seq and no count reaches. */
function parseInteger(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Number(text) : undefined;
}
