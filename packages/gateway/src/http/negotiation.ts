/** What a caller prefers: parsing of `Accept`, `Accept-Encoding`, `Prefer` and `If-None-Match`. */
import type { IncomingMessage } from 'node:http';

import { weightedList, weightIn } from '@open-presence/protocol';

/** Content encodings, in the order in which the gateway prefers them. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];
const CODINGS = [...ENCODINGS, 'x-gzip', 'identity', '*'];
/** The same for streams: Brotli cannot compress their parts apart. */
const STREAM_ENCODINGS = ['zstd', 'gzip'] as const;
export type StreamEncoding = (typeof STREAM_ENCODINGS)[number];

/** A media type that a path can send. */
export interface Offer {
  readonly type: string;
  /** Not chosen by a wildcard: a stream never ends, and a feed has only one page. */
  readonly onlyIfNamed?: true;
}

interface RankedOffer<T extends Offer> {
  readonly offer: T;
  /** How specific the media range is that gave the weight. */
  specificity: number;
  weight: number;
  /** Position of that range in the header. */
  position: number;
}

/**
 * The offer that the caller prefers (RFC 9110 section 12.5.1): by weight, then by how specifically it
 * is named, then by position in the header. The first offer if the caller accepts none.
 */
export function preferred<T extends Offer>(accept: string | undefined, offers: readonly T[]): T {
  const [first] = offers;
  if (first === undefined) throw new Error('There is nothing to choose from');
  if (offers.length === 1 || accept === undefined || accept === first.type) return first;
  // What most clients send.
  if (accept === '*/*' && first.onlyIfNamed !== true) return first;
  const ranked = offers.map((offer): RankedOffer<T> => {
    return { offer, specificity: -1, weight: 0, position: Infinity };
  });
  let position = 0;
  for (const element of weightedList(accept, rangesOf(offers))) {
    const { name } = element;
    const weight = weightIn(element);
    position += 1;
    for (const rank of ranked) {
      const specificity = specificityOf(name, rank.offer);
      if (specificity > rank.specificity) Object.assign(rank, { specificity, weight, position });
    }
  }
  ranked.sort(
    (a, b) => b.weight - a.weight || b.specificity - a.specificity || a.position - b.position,
  );
  const [best] = ranked;
  return best === undefined || best.weight === 0 ? first : best.offer;
}

const ranges = new WeakMap<readonly Offer[], readonly string[]>();

/** The media ranges that cover an offer. */
function rangesOf(offers: readonly Offer[]): readonly string[] {
  const found = ranges.get(offers) ?? [
    ...new Set(offers.flatMap(({ type }) => [type, `${type.split('/', 1)[0]}/*`, '*/*'])),
  ];
  ranges.set(offers, found);
  return found;
}

/** 2 for the type itself, 1 for its top-level type, 0 for any type, -1 for no match. */
function specificityOf(range: string, { type, onlyIfNamed }: Offer): number {
  if (range === type) return 2;
  if (onlyIfNamed === true) return -1;
  if (range === '*/*') return 0;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1)) ? 1 : -1;
}

/** Most callers send one of few values; long ones are parsed each time. */
const MAX_CACHED_HEADERS = 256;
const MAX_CACHED_LENGTH = 128;
const encodingByHeader = new Map<string, Encoding | undefined>();

/** The supported encoding that the caller prefers; undefined for an uncompressed response. */
export function preferredEncoding(
  acceptEncoding: string | string[] | undefined,
): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === '') return undefined;
  const header = typeof acceptEncoding === 'string' ? acceptEncoding : acceptEncoding.join(',');
  const cached = encodingByHeader.get(header);
  if (cached !== undefined || encodingByHeader.has(header)) return cached;
  const encoding = chooseEncoding(header, ENCODINGS);
  if (header.length <= MAX_CACHED_LENGTH) {
    if (encodingByHeader.size >= MAX_CACHED_HEADERS) encodingByHeader.clear();
    encodingByHeader.set(header, encoding);
  }
  return encoding;
}

/** The same for a response that is streamed. */
export function streamEncoding({ headers }: IncomingMessage): StreamEncoding | undefined {
  return chooseEncoding(headers['accept-encoding'] ?? '', STREAM_ENCODINGS);
}

function chooseEncoding<Name extends Encoding>(
  header: string,
  encodings: readonly Name[],
): Name | undefined {
  const weights = new Map<string, number>();
  for (const element of weightedList(header, CODINGS)) {
    const encoding = element.name === 'x-gzip' ? 'gzip' : element.name;
    if (!weights.has(encoding)) weights.set(encoding, weightIn(element));
  }
  const wildcard = weights.get('*') ?? 0;
  let best: Name | undefined;
  let highest = 0;
  for (const encoding of encodings) {
    const weight = weights.get(encoding) ?? wildcard;
    if (weight > highest) [best, highest] = [encoding, weight];
  }
  return (weights.get('identity') ?? 0) > highest ? undefined : best;
}

const MINIMAL = /(?:^|[,;])\s*return\s*=\s*(?:minimal|"minimal")\s*(?:[,;]|$)/i;
const HALF_DUPLEX = /(?:^|[,;])\s*duplex\s*=\s*(?:half|"half")\s*(?:[,;]|$)/i;

/** Whether the header has `return=minimal` (RFC 7240 section 4.2). */
export function wantsMinimal(prefer: string | string[] | undefined): boolean {
  return prefer !== undefined && MINIMAL.test(String(prefer));
}

/** Whether the header has `duplex=half`: the answer is to begin after the request (section 7.8). */
export function wantsHalfDuplex(prefer: string | string[] | undefined): boolean {
  return prefer !== undefined && HALF_DUPLEX.test(String(prefer));
}

/**
 * Whether the header lists this tag, by weak comparison (RFC 9110 section 13.1.2). The tag includes its quotes,
 * so that only a whole tag is found.
 */
export function matchesEtag(ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  if (ifNoneMatch === undefined || tag === undefined) return false;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.includes(opaqueTag(tag));
}

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
