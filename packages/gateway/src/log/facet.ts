/** A name and a value by which entries are selected, hashed to a fixed size: values may be of any length. */
import { createHash, hash, type Hash } from 'node:crypto';

import {
  FILTER_NAMES,
  MAX_REFERENCE_LENGTH,
  namedSeq,
  referencedId,
  type Filter,
} from '@open-presence/protocol';

/**
 * 16 bytes: the first half of SHA-256 over name, NUL, value in UTF-8, marked as a UUID of version 8. In
 * `inReplyTo`, a value that names an entry is the id of that entry instead, a UUID of version 7: so an entry's
 * facets tell what it answers. A seq has the version 2 and stands at the end, until a store puts the id of the
 * entry in its place.
 */
export type Facet = Uint8Array;

export const FACET_SIZE = 16;
/** The byte that has the version of a UUID in its upper half. */
export const VERSION_AT = 6;

/**
 * Selects entries that have all of these facets, concatenated, or any one of several. A request may have a
 * hundred thousand; separate arrays would take six times the memory.
 */
export type FacetCondition = Uint8Array | readonly Facet[];

/** An entry must have one of each of these. */
export function* alternativesIn(
  conditions: readonly FacetCondition[],
): Generator<readonly Facet[], void, undefined> {
  for (const condition of conditions)
    if (!(condition instanceof Uint8Array)) yield condition;
    else for (const one of facetsIn(condition)) yield [one];
}

/** The facets of a condition one by one. */
export function* facetsIn(condition: FacetCondition): Generator<Facet, void, undefined> {
  if (!(condition instanceof Uint8Array)) yield* condition;
  else
    for (let at = 0; at < condition.length; at += FACET_SIZE)
      yield condition.subarray(at, at + FACET_SIZE);
}

export type FacetName = Filter | 'kind' | 'room';

/** Enough for the identities and rooms of a busy hour; a cache miss costs one hash. */
const CACHE_SIZE = 4096;
/** Longer values are not cached, which bounds the memory of the cache. */
const MAX_CACHED_LENGTH = 128;
const NAMES: readonly FacetName[] = ['kind', 'room', ...FILTER_NAMES];
const cache = new Map(NAMES.map((name) => [name, new Map<string, Facet>()]));

/** The facet of a value. Lone surrogates count as U+FFFD. */
export function facet(name: FacetName, value: string): Facet {
  if (value.length > MAX_CACHED_LENGTH) return newFacet(name, value);
  const facets = cache.get(name);
  const cached = facets?.get(value);
  if (cached !== undefined) return cached;
  const fresh = newFacet(name, value);
  if ((facets?.size ?? 0) >= CACHE_SIZE) facets?.clear();
  facets?.set(value, fresh);
  return fresh;
}

function newFacet(name: FacetName, value: string): Facet {
  const seq = name === 'inReplyTo' ? namedSeq(value) : undefined;
  if (seq !== undefined) return bytesOfSeq(seq);
  const id = name === 'inReplyTo' ? referencedId(value) : undefined;
  return id === undefined ? digest(`${name}\0${value}`) : bytesOfId(id);
}

/** The version that no UUID here has, and no other facet. */
const SEQ_VERSION = 0x20;
const SEQ_AT = 8;

function bytesOfSeq(seq: number): Facet {
  const bytes = new Uint8Array(FACET_SIZE);
  bytes[VERSION_AT] = SEQ_VERSION;
  new DataView(bytes.buffer).setBigUint64(SEQ_AT, BigInt(seq));
  return bytes;
}

/** The seq that the last facet names; undefined if it names none. */
export function seqNamedIn(facets: Uint8Array): number | undefined {
  const last = facets.subarray(-FACET_SIZE);
  if (last[VERSION_AT] !== SEQ_VERSION) return undefined;
  return Number(new DataView(last.buffer, last.byteOffset).getBigUint64(SEQ_AT));
}

function bytesOfId(id: string): Uint8Array {
  return Uint8Array.from(Buffer.from(id.replaceAll('-', ''), 'hex'));
}

/** What a text calls somebody by `@NAME` (see `concern.ts`). */
export function facetOfMention(name: string): Facet {
  return digest(`mention\0${name}`);
}

/** The facet of a value in UTF-8, not cached: for values that are unlikely to come again. */
export function facetOfBytes(name: FacetName, value: Uint8Array): Facet {
  if (name === 'inReplyTo' && value.length <= MAX_REFERENCE_LENGTH) {
    return facet(name, Buffer.from(value).toString());
  }
  return digest(Buffer.concat([Buffer.from(`${name}\0`), value]));
}

/** The facet of a value that arrives in chunks of UTF-8. */
export class FacetHash {
  readonly #hash: Hash;

  constructor(name: FacetName) {
    this.#hash = createHash('sha256').update(`${name}\0`);
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  finish(): Facet {
    return marked(Uint8Array.from(this.#hash.digest().subarray(0, FACET_SIZE)));
  }
}

/** Copies into an array of its own: a view would keep the pool it was cut from in memory. */
function digest(text: string | Uint8Array): Facet {
  const bytes = new Uint8Array(FACET_SIZE);
  const sha256 = hash('sha256', text, 'binary');
  for (let at = 0; at < FACET_SIZE; at += 1) bytes[at] = sha256.charCodeAt(at);
  return marked(bytes);
}

/** Whether the facet at this place is that of a text, and not of an id or a thread. */
export function isOfText(facets: Uint8Array, at: number): boolean {
  return (facets[at + VERSION_AT] ?? 0) >= 0x80;
}

/** No UUID of version 7 any more: no visitor can name an id that has the bytes of another facet. */
function marked(bytes: Facet): Facet {
  bytes[VERSION_AT] = (bytes[VERSION_AT] ?? 0) | 0x80;
  return bytes;
}
