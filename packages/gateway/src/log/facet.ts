/**
 * A facet is one thing by which entries can be found: a name and a value (`identity` = "Mova"),
 * hashed to a fixed size, so that values may be of any length.
 */
import { createHash, hash, type Hash } from 'node:crypto';

import type { Filter } from '@open-presence/protocol';

/** 16 bytes: the first half of SHA-256 over name, NUL, value in UTF-8. */
export type Facet = Uint8Array;

export const FACET_SIZE = 16;

export type FacetName = Filter | 'kind' | 'room';

/** Enough for the identities and rooms of a busy hour; a miss costs one hash. */
const REMEMBERED = 4096;
/** Longer values are hashed each time, so that what is remembered stays small. */
const LONGEST_REMEMBERED = 128;
const remembered: Record<FacetName, Map<string, Facet>> = {
  kind: new Map(),
  room: new Map(),
  identity: new Map(),
  identityType: new Map(),
  seeking: new Map(),
  to: new Map(),
  inReplyTo: new Map(),
};

/** The facet of a value. Lone surrogates count as U+FFFD. */
export function facet(name: FacetName, value: string): Facet {
  if (value.length > LONGEST_REMEMBERED) return digest(`${name}\0${value}`);
  const values = remembered[name];
  const known = values.get(value);
  if (known !== undefined) return known;
  const fresh = digest(`${name}\0${value}`);
  if (values.size >= REMEMBERED) values.clear();
  values.set(value, fresh);
  return fresh;
}

/** The same of a value in UTF-8, for values that come by the thousand and are not met again. */
export function facetOfBytes(name: FacetName, value: Uint8Array): Facet {
  return digest(Buffer.concat([Buffer.from(`${name}\0`), value]));
}

/** The facet of a value that comes in pieces: UTF-8 goes in by `update`, `finish` gives the facet. */
export class FacetHash {
  readonly #hash: Hash;

  constructor(name: FacetName) {
    this.#hash = createHash('sha256').update(`${name}\0`);
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  finish(): Facet {
    return this.#hash.digest().subarray(0, FACET_SIZE);
  }
}

/** Into an array of its own: a view would keep alive the pool that it was cut from. */
function digest(text: string | Uint8Array): Facet {
  const bytes = new Uint8Array(FACET_SIZE);
  const half = hash('sha256', text, 'latin1');
  for (let at = 0; at < FACET_SIZE; at += 1) bytes[at] = half.charCodeAt(at);
  return bytes;
}
