/** Parses query parameters into a selection (PROTOCOL.md section 8.2). */
import { FILTER_NAMES, GatewayError, isKind, KINDS, type Fault } from '@open-presence/protocol';

import { facet, type FacetCondition } from '../log/facet.ts';
import type { Log, Order, Selection, Seq } from '../log/log.ts';
import type { TextQuery } from '../log/text-query.ts';
import type { Grammar } from './grammar.ts';
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
  /** The log that `after` must be a cursor of; without it, `after` may be beyond the head. */
  readonly log?: Pick<Log, 'head' | 'id'>;
}

/** A value that cannot be used, and what its error contains if it is the only one. */
interface ParameterFault {
  readonly code: 'invalid-parameter' | 'unknown-room' | 'unknown-kind';
  readonly fault: Fault;
  readonly known?: readonly string[];
}

/** How many faults of one request are reported: a parameter can be wrong a million times. */
export const MAX_FAULTS = 16;

/** Characters of a value that are quoted. */
const MAX_QUOTE = 60;

const COUNT = 'a whole number from 0';
const CURSOR = 'a cursor (a seq) from an earlier answer';
const TIME = 'an ISO 8601 date or date-time, such as 2026-11-21 or 2026-11-21T09:37:00Z';

/**
 * Every occurrence of a repeated parameter applies. Ignores `q`, whose meaning is `query`. Throws
 * `invalid-parameter` with all unusable values, or `unknown-room` or `unknown-kind` if that is the only
 * fault.
 */
export function parseSelection(
  parameters: URLSearchParams,
  listing: SelectionScope,
  query?: TextQuery | TextQueryFault,
): Selection {
  const selection = read(parameters, listing.subject, (reader): Selection => {
    const order = reader.order(listing.hasBest === true);
    const limit = reader.bound('limit', parseInteger, COUNT, Math.min);
    const after = reader.bound('after', parseInteger, CURSOR, Math.max);
    const before = reader.bound('before', parseInteger, CURSOR, Math.min);
    const since = reader.bound('since', parseTime, TIME, Math.max);
    const until = reader.bound('until', parseTime, TIME, Math.min);
    const facets = [...listing.facets, ...reader.facets(listing)];
    const textQuery = reader.textQuery(query);
    return {
      facets,
      order,
      ...(textQuery === undefined ? {} : { textQuery }),
      ...(after === undefined ? {} : { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
      ...(isReachable(before) ? { before } : {}),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(isReachable(limit) ? { limit } : {}),
    };
  });
  const { log, subject } = listing;
  const { after = 0 } = selection;
  if (log !== undefined && after > log.head()) {
    const sent = parameters.getAll('after').find((text) => Number(text) >= after);
    throw foreignCursor(sent ?? String(after), log, subject);
  }
  return selection;
}

/** As `parseSelection`, with `q`. Takes turns with other work, because `q` may be megabytes long. */
export async function parseSearchSelection(
  parameters: URLSearchParams,
  listing: SelectionScope,
): Promise<Selection> {
  const queries = parameters.getAll('q');
  const query = queries.length === 0 ? undefined : await parseTextQuery(queries);
  return parseSelection(parameters, listing, query);
}

function foreignCursor(
  after: string,
  log: Pick<Log, 'head' | 'id'>,
  subject: string,
): GatewayError {
  const head = log.head();
  const detail = `"after" must be a cursor from this log, but ${describeForeignCursor(after, head)}`;
  const faults = [{ parameter: 'after', detail }];
  const begin = `Begin with ${head} as "after" to get what is new, or with 0 to read everything again.`;
  const message = `Cannot read ${subject}: ${detail}. ${begin}`;
  return new GatewayError('invalid-parameter', message, { faults, head, log: log.id });
}

/** Why a cursor beyond the head cannot be from this log. */
export function describeForeignCursor(cursor: Seq | string, head: Seq): string {
  const digits = String(cursor);
  const start = digits.length <= MAX_QUOTE ? digits : `${digits.slice(0, MAX_QUOTE)}…`;
  return `${start} is beyond its head, ${head}: the log was restored from a backup, or the cursor is from another gateway`;
}

/**
 * The parameter `wait`, which is in seconds, in ms; the longest of several. Throws
 * `invalid-parameter`.
 */
export function parseWait(parameters: URLSearchParams, subject: string): number | undefined {
  const seconds = read(parameters, subject, (reader) =>
    reader.bound('wait', parseSeconds, 'a number of seconds from 0', Math.max),
  );
  return seconds === undefined ? undefined : seconds * 1000;
}

/** How many of the best results to skip; the most of several. Throws `invalid-parameter`. */
export function parseSkip(parameters: URLSearchParams, subject: string): number {
  const skip = read(parameters, subject, (reader) =>
    reader.bound('skip', parseInteger, COUNT, Math.max),
  );
  return Math.min(skip ?? 0, Number.MAX_SAFE_INTEGER);
}

/** Throws `invalid-parameter` for those that have no effect here; `refused` says why, by name. */
export function rejectParameters(
  parameters: URLSearchParams,
  subject: string,
  refused: Readonly<Record<string, string>>,
): void {
  const faults = Object.entries(refused)
    .filter(([name]) => parameters.has(name))
    .map(([name, reason]) => invalid(name, `"${name}" has no effect here: ${reason}`));
  if (faults.length > 0) throw parameterError(faults, subject);
}

/** The header `Last-Event-ID`. Throws `invalid-parameter`. */
export function parseCursor(text: string, subject: string): Seq {
  const cursor = parseInteger(text);
  if (cursor !== undefined) return Math.min(cursor, Number.MAX_SAFE_INTEGER);
  const detail = `"Last-Event-ID" must be ${CURSOR}, got ${quote(text)}`;
  throw parameterError([invalid('Last-Event-ID', detail)], subject);
}

/** A maximum that no log can reach selects everything. */
function isReachable(number: number | undefined): number is number {
  return number !== undefined && number <= Number.MAX_SAFE_INTEGER;
}

class ParameterReader {
  readonly faults: ParameterFault[] = [];
  readonly #parameters: URLSearchParams;

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  order(hasBest: boolean): Order {
    const wanted = hasBest ? '"best", "newest" or "oldest"' : '"newest" or "oldest"';
    const orders = this.#values('order', parseOrder, wanted);
    const [first = 'newest'] = orders;
    if (orders.some((order) => order !== first)) {
      this.#addInvalid('order', `either ${wanted}`, 'both');
    }
    return first;
  }

  /** The strictest value of a parameter. */
  bound(
    name: string,
    parse: (text: string) => number | undefined,
    wanted: string,
    stricter: (a: number, b: number) => number,
  ): number | undefined {
    const [first, ...others] = this.#values(name, parse, wanted);
    return first === undefined ? undefined : others.reduce((a, b) => stricter(a, b), first);
  }

  /** Several rooms, or kinds, are alternatives: an entry has one of each. */
  facets({ grammar, fixed, otherKinds = [] }: SelectionScope): FacetCondition[] {
    const rooms = this.#names('room', [...grammar.rooms], fixed?.room);
    const kinds = this.#names('kind', [...KINDS, ...otherKinds], fixed?.kind, otherKinds).filter(
      isKind,
    );
    const conditions = [
      rooms.map((slug) => facet('room', slug)),
      kinds.map((kind) => facet('kind', kind)),
    ].flatMap((any): FacetCondition[] => {
      const [first] = any;
      if (first === undefined) return [];
      return any.length === 1 ? [first] : [any];
    });
    const filters = FILTER_NAMES.map((filter) => {
      return [...new Set(this.#parameters.getAll(filter))].map((value) => facet(filter, value));
    });
    return [...conditions, ...filters.flat()];
  }

  /** The different values, each of which must be known. */
  #names(
    name: 'room' | 'kind',
    known: readonly string[],
    fixed: string | undefined,
    otherKinds: readonly string[] = [],
  ): string[] {
    const values = new Set(this.#parameters.getAll(name));
    for (const value of values) {
      if (!known.includes(value)) this.#addUnknown(name, value, known);
      else if (fixed !== undefined && value !== fixed && !otherKinds.includes(value)) {
        const elsewhere = `${quote(value)}: what is listed here has the ${name} ${quote(fixed)} only; request /api/entries?${name}=${value} instead`;
        this.#addInvalid(name, quote(fixed), elsewhere);
      }
    }
    return [...values];
  }

  textQuery(parsed: TextQuery | TextQueryFault | undefined): TextQuery | undefined {
    if (parsed === undefined || 'all' in parsed) return parsed;
    this.#addInvalid('q', parsed.wanted, quote(parsed.got));
    return undefined;
  }

  #values<Value>(
    name: string,
    parse: (text: string) => Value | undefined,
    wanted: string,
  ): Value[] {
    return this.#parameters.getAll(name).flatMap((text) => {
      const value = parse(text);
      if (value === undefined) this.#addInvalid(name, wanted, quote(text));
      return value === undefined ? [] : [value];
    });
  }

  #addInvalid(parameter: string, wanted: string, got: string): void {
    this.#add(invalid(parameter, `"${parameter}" must be ${wanted}, got ${got}`));
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

/** Throws for the faults that `parse` finds. */
function read<Value>(
  parameters: URLSearchParams,
  subject: string,
  parse: (reader: ParameterReader) => Value,
): Value {
  const reader = new ParameterReader(parameters);
  const value = parse(reader);
  if (reader.faults.length > 0) throw parameterError(reader.faults, subject);
  return value;
}

function invalid(parameter: string, detail: string): ParameterFault {
  return { code: 'invalid-parameter', fault: { parameter, detail } };
}

function parameterError(found: readonly ParameterFault[], subject: string): GatewayError {
  const faults = found.map(({ fault }) => fault);
  const { code = 'invalid-parameter', known }: Partial<ParameterFault> =
    (found.length === 1 ? found[0] : undefined) ?? {};
  const sentence = faults.map(({ detail }) => detail).join('; ');
  return new GatewayError(code, `Cannot read ${subject}: ${sentence}`, {
    faults,
    ...(known === undefined ? {} : { known }),
  });
}

function parseOrder(text: string): Order | undefined {
  return isOrder(text) ? text : undefined;
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

function quote(text: string): string {
  if (text.length <= MAX_QUOTE) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, MAX_QUOTE).toWellFormed())}…`;
}
