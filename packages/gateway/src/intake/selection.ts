/** Query parameters become a selection (PROTOCOL.md section 8.2). */
import {
  FILTER_MEMBERS,
  GatewayError,
  isKind,
  KINDS,
  type Fault,
  type Filter,
} from '@open-presence/protocol';

import { facet, type Facet } from '../log/facet.ts';
import type { Order, Selection, Seq } from '../log/log.ts';
import type { TextQuery } from '../log/text-query.ts';
import { NAMED } from './findings.ts';
import type { Grammar } from './grammar.ts';
import { parseTextQuery } from './parse-text-query.ts';
import { timeOf } from './parse-time.ts';

/** Where a selection is made. */
export interface Listing {
  readonly grammar: Grammar;
  /** What the path asks for: a kind, a room, an entry that was answered. */
  readonly facets: readonly Facet[];
  /** Whether it has several kinds, so that `kind` means something. */
  readonly kinds: boolean;
  /** What is read, for errors: "the garden". */
  readonly subject: string;
}

/** A value that cannot be used, and what else its error says. */
interface Misfit {
  readonly code: 'invalid-parameter' | 'unknown-room' | 'unknown-kind';
  readonly fault: Fault;
  readonly known?: readonly string[];
}

/** Characters of a value that are quoted. */
const QUOTED = 60;

const CURSOR = 'a cursor (a seq) from an earlier answer';
const TIME = 'an ISO 8601 date or date-time, such as 2026-11-21 or 2026-11-21T09:37:00Z';

/**
 * What the parameters ask for. One that is given several times binds each time. Throws
 * `invalid-parameter` that names unusable values, or `unknown-room` or `unknown-kind` where
 * that is all that is wrong.
 */
export function selectionOf(parameters: URLSearchParams, listing: Listing): Selection {
  const reading = new Parameters(parameters);
  const order = reading.order();
  const limit = reading.bound('limit', numberOf, 'a whole number from 0', Math.min);
  const after = reading.bound('after', numberOf, CURSOR, Math.max);
  const before = reading.bound('before', numberOf, CURSOR, Math.min);
  const since = reading.bound('since', timeOf, TIME, Math.max);
  const until = reading.bound('until', timeOf, TIME, Math.min);
  const facets = [...listing.facets, ...reading.facets(listing)];
  const textQuery = reading.sought();
  if (reading.misfits.length > 0) throw refusal(reading.misfits, listing.subject);
  return {
    facets,
    order,
    ...(textQuery === undefined ? {} : { textQuery }),
    ...(after === undefined ? {} : { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
    ...(isWithinReach(before) ? { before } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(isWithinReach(limit) ? { limit } : {}),
  };
}

/**
 * How long an answer is held for news, in ms, of the parameter `wait` in seconds; the longest of
 * several. Throws `invalid-parameter`.
 */
export function waitOf(parameters: URLSearchParams, subject: string): number | undefined {
  const reading = new Parameters(parameters);
  const seconds = reading.bound('wait', secondsOf, 'a number of seconds from 0', Math.max);
  if (reading.misfits.length > 0) throw refusal(reading.misfits, subject);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** How many of the best are passed over: the most of several. Throws `invalid-parameter`. */
export function skipOf(parameters: URLSearchParams, subject: string): number {
  const reading = new Parameters(parameters);
  const skip = reading.bound('skip', numberOf, 'a whole number from 0', Math.max);
  if (reading.misfits.length > 0) throw refusal(reading.misfits, subject);
  return Math.min(skip ?? 0, Number.MAX_SAFE_INTEGER);
}

/** Throws `invalid-parameter` for words that are sought where they cannot be. */
export function refuseWords(parameters: URLSearchParams, subject: string, instead: string): void {
  if (!parameters.has('q')) return;
  const detail = `"q" cannot be used here: ${instead}`;
  throw refusal([{ code: 'invalid-parameter', fault: { parameter: 'q', detail } }], subject);
}

/** A cursor that stands alone, as in `Last-Event-ID`. Throws `invalid-parameter`. */
export function cursorOf(text: string, subject: string): Seq {
  const cursor = numberOf(text);
  if (cursor !== undefined) return Math.min(cursor, Number.MAX_SAFE_INTEGER);
  const parameter = 'Last-Event-ID';
  const detail = `"${parameter}" must be ${CURSOR}, got ${quoted(text)}`;
  throw refusal([{ code: 'invalid-parameter', fault: { parameter, detail } }], subject);
}

/** What no log can reach does not bind as a maximum. */
function isWithinReach(number: number | undefined): number is number {
  return number !== undefined && number <= Number.MAX_SAFE_INTEGER;
}

class Parameters {
  readonly misfits: Misfit[] = [];
  readonly #given: URLSearchParams;

  constructor(given: URLSearchParams) {
    this.#given = given;
  }

  order(): Order {
    const orders = this.#values('order', orderOf, '"newest" or "oldest"');
    const [first = 'newest'] = orders;
    if (orders.some((order) => order !== first)) {
      this.#unusable('order', 'either "newest" or "oldest"', 'both');
    }
    return first;
  }

  /** The value that binds most of those given, by `stricter`. */
  bound(
    name: string,
    read: (text: string) => number | undefined,
    wanted: string,
    stricter: (one: number, other: number) => number,
  ): number | undefined {
    const [first, ...others] = this.#values(name, read, wanted);
    return first === undefined
      ? undefined
      : others.reduce((one, other) => stricter(one, other), first);
  }

  facets({ grammar, kinds }: Listing): Facet[] {
    const rooms = this.#given.getAll('room').map((slug) => {
      if (!grammar.rooms.has(slug)) this.#unknown('unknown-room', 'room', slug, [...grammar.rooms]);
      return facet('room', slug);
    });
    const ofKinds = (kinds ? this.#given.getAll('kind') : []).map((kind) => {
      if (!isKind(kind)) this.#unknown('unknown-kind', 'kind', kind, KINDS);
      return facet('kind', kind);
    });
    const filters = FILTER_NAMES.map((filter) => {
      return this.#given.getAll(filter).map((value) => facet(filter, value));
    });
    return [...rooms, ...ofKinds, ...filters.flat()];
  }

  sought(): TextQuery | undefined {
    const queries = this.#given.getAll('q');
    if (queries.length === 0) return undefined;
    const sought = parseTextQuery(queries);
    if ('all' in sought) return sought;
    this.#unusable('q', sought.wanted, quoted(sought.got));
    return undefined;
  }

  #values<Value>(name: string, read: (text: string) => Value | undefined, wanted: string): Value[] {
    return this.#given.getAll(name).flatMap((text) => {
      const value = read(text);
      if (value === undefined) this.#unusable(name, wanted, quoted(text));
      return value === undefined ? [] : [value];
    });
  }

  #unusable(parameter: string, wanted: string, got: string): void {
    const detail = `"${parameter}" must be ${wanted}, got ${got}`;
    this.#add({ code: 'invalid-parameter', fault: { parameter, detail } });
  }

  #unknown(
    code: 'unknown-room' | 'unknown-kind',
    parameter: 'room' | 'kind',
    value: string,
    known: readonly string[],
  ): void {
    const detail = `"${parameter}" must be one of ${known.join(', ')}, got ${quoted(value)}`;
    this.#add({ code, fault: { parameter, detail }, known });
  }

  #add(misfit: Misfit): void {
    if (this.misfits.length < NAMED) this.misfits.push(misfit);
  }
}

const FILTER_NAMES = Object.keys(FILTER_MEMBERS).filter((name): name is Filter => {
  return Object.hasOwn(FILTER_MEMBERS, name);
});

function refusal(misfits: readonly Misfit[], subject: string): GatewayError {
  const faults = misfits.map(({ fault }) => fault);
  const [only] = misfits;
  const alone = misfits.length === 1 ? only : undefined;
  const sentence = faults.map(({ detail }) => detail).join('; ');
  return new GatewayError(
    alone?.code ?? 'invalid-parameter',
    `Cannot read ${subject}: ${sentence}`,
    {
      faults,
      ...(alone?.known === undefined ? {} : { known: alone.known }),
    },
  );
}

function orderOf(text: string): Order | undefined {
  return text === 'newest' || text === 'oldest' ? text : undefined;
}

/** Undefined for what is no number of seconds. */
export function secondsOf(text: string): number | undefined {
  return /^[0-9]+(?:\.[0-9]*)?$/.test(text) ? Number(text) : undefined;
}

/** Beyond 2^53 it is only about so much; no seq and no count comes near. */
function numberOf(text: string): number | undefined {
  return /^[0-9]+$/.test(text) ? Number(text) : undefined;
}

function quoted(text: string): string {
  if (text.length <= QUOTED) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, QUOTED).toWellFormed())}…`;
}
