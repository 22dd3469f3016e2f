/**
 * The query parameters of a request, whose names are as this contract spells them. Escapes that
 * cannot be decoded are left as they are.
 *
 * Invariant: A query of any length is read in turns and in linear time, and finds what a short one
 *   would.
 * Test: `packages/gateway/src/http/parameters/query.test.ts` “has the same parameters as URLSearchParams
 *   finds, however long it is” “of millions of parameters is read in linear time”
 * Test: `packages/gateway/src/intake/parse-text-query.test.ts` “megabytes of words are terms, each
 *   once, while others have their turns”
 * Test: `packages/gateway/src/doors/rest/long-search.test.ts` “a search of many words finds what
 *   one of few would”
 */
import type { IncomingMessage } from 'node:http';

import { yieldPeriodically } from '../../fair-turns.ts';
import { canonicalName } from '../../near-names.ts';

type WithUrl = Pick<IncomingMessage, 'url'>;

/** In characters. Longer queries are parsed in parts of about this length, in turns with other work. */
const PART_LENGTH = 4096;
/** Where a part of a value may begin: not within the escapes of one character. */
const BREAK = /%[0-7c-f][\da-f]|(?<!%|%.)[!-$&-~]/gi;

/** The parser returns trees of pieces, which take long to join if they are many. */
const PARTS_PER_GROUP = 16;

/** What may be in a name that is spelled otherwise. */
const UNUSUAL = /[%+[]|amp;/;
/** Longer names are none of ours, however they are encoded. */
const MAX_NAME_LENGTH = 128;

const longQueries = new WeakMap<WithUrl, URLSearchParams>();

/** The parameters of a request. All callers share the object that `readQuery` has made of a long query. */
export function queryOf(request: WithUrl): URLSearchParams {
  return longQueries.get(request) ?? new URLSearchParams(queryText(request));
}

/**
 * Call it before `queryOf`. Gives known names in the query of `url` their usual spelling. Undefined for a query
 * that is short enough to be read at once.
 */
export function readQuery(request: WithUrl, known: ReadonlySet<string>): Promise<void> | undefined {
  const query = queryText(request);
  if (query.length > PART_LENGTH) return readInTurns(request, query, known);
  if (query !== '') setQuery(request, canonicalNames(query, known));
  return undefined;
}

function setQuery(request: WithUrl, query: string): void {
  const { url = '' } = request;
  request.url = url.slice(0, url.indexOf('?') + 1) + query;
}

/** Frees the memory of a head: to be called once for a request that may stay open for days. */
export function forgetHead(request: IncomingMessage): void {
  longQueries.delete(request);
  request.url = '';
  request.rawHeaders = [];
  request.headers = {};
}

function queryText({ url = '' }: WithUrl): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

async function readInTurns(
  request: WithUrl,
  query: string,
  known: ReadonlySet<string>,
): Promise<void> {
  const parameters = new URLSearchParams();
  const canonical: string[] = [];
  const yieldTurn = yieldPeriodically();
  for (let start = 0; start < query.length;) {
    const end = endOfPairs(query, start);
    const pairs = canonicalNames(query.slice(start, end), known);
    canonical.push(pairs);
    if (pairs.length <= 2 * PART_LENGTH) {
      // The parser drops a leading `?`, which may be part of a name here.
      for (const [name, value] of new URLSearchParams(`&${pairs}`)) parameters.append(name, value);
    } else {
      // One pair: more than one would have ended earlier.
      const equals = pairs.indexOf('=');
      const nameEnd = equals === -1 ? pairs.length : equals;
      const name = await decodeInTurns(pairs.slice(0, nameEnd));
      parameters.append(name, await decodeInTurns(pairs.slice(nameEnd + 1)));
    }
    start = end + 1;
    await yieldTurn();
  }
  longQueries.set(request, parameters);
  setQuery(request, canonical.join('&'));
}

/** The end of the last pair that fits into a part, or of the one at `start`. */
function endOfPairs(query: string, start: number): number {
  if (query.length - start <= PART_LENGTH) return query.length;
  const last = query.lastIndexOf('&', start + PART_LENGTH);
  if (last >= start) return last;
  const next = query.indexOf('&', start);
  return next === -1 ? query.length : next;
}

async function decodeInTurns(text: string): Promise<string> {
  const yieldTurn = yieldPeriodically();
  const decoded: string[] = [];
  let group: string[] = [];
  for (const part of partsOf(text)) {
    group.push(new URLSearchParams(`=${part}`).get('') ?? '');
    await yieldTurn();
    if (group.length < PARTS_PER_GROUP) continue;
    decoded.push(group.join(''));
    group = [];
  }
  return decoded.join('') + group.join('');
}

/** Parts of a name or value in which no escaped character is divided. */
export function* partsOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    BREAK.lastIndex = start + PART_LENGTH;
    const end = BREAK.exec(text)?.index ?? text.length;
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * A query, or whole pairs of one, with each known name as this contract spells it (PROTOCOL.md section 1.7).
 * Callers percent-encode names, write lists as `NAME[]` or `NAME[0]`, and copy `&amp;` from a page.
 */
function canonicalNames(query: string, known: ReadonlySet<string>): string {
  if (!UNUSUAL.test(query)) return query;
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const nameEnd = equals === -1 ? pair.length : equals;
      if (nameEnd > MAX_NAME_LENGTH) return pair;
      const name = pair.slice(0, nameEnd);
      if (!UNUSUAL.test(name)) return pair;
      const canonical = canonicalName(decodedName(name));
      return known.has(canonical) ? canonical + pair.slice(nameEnd) : pair;
    })
    .join('&');
}

function decodedName(name: string): string {
  const [first] = new URLSearchParams(`&${name}`).keys();
  return first ?? '';
}
