/**
 * Threads: an entry belongs to the thread of the entry that it answers, and an entry that answers none
 * begins one, which has its seq. Of an answer, the log stores the thread as its last facet, so that each
 * further answer needs to look at one entry only, however deep the thread is.
 */
import type { Kind } from '@open-presence/protocol';

import { facet, FACET_SIZE, type Facet, type FacetCondition, VERSION_AT } from './facet.ts';
import type { Seq } from './log.ts';

/** Where the seq stands in the facet of a thread: after eight zeros. No other facet begins with these. */
const SEQ_AT = 8;
const UUID_VERSION_AT = 6;

/** The facet of all entries of the thread that this entry begins. */
export function threadFacet(root: Seq): Facet {
  const bytes = Buffer.alloc(FACET_SIZE);
  bytes.writeBigUInt64BE(BigInt(root), SEQ_AT);
  return bytes;
}

/** The entry that begins the thread. Undefined if no thread is stored. `facets`: all that an entry has. */
export function threadIn(facets: Uint8Array): Seq | undefined {
  const last = lastOf(facets);
  if (last === undefined || last.readBigUInt64BE(0) !== 0n) return undefined;
  const root = Number(last.readBigUInt64BE(SEQ_AT));
  return root > 0 ? root : undefined;
}

/** The id of the entry that an entry with these facets answers. `thread`: whether its thread is among them. */
export function answeredIn(facets: Uint8Array, thread = false): string | undefined {
  const last = lastOf(thread ? facets.subarray(0, -FACET_SIZE) : facets);
  if (last === undefined || (last[UUID_VERSION_AT] ?? 0) >> 4 !== 7) return undefined;
  return last.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * All that is left of a withheld entry. Its kind and room have facets of their own, which nobody finds who does not
 * ask for withheld entries too. Answers to it go on in the thread that it was in.
 */
export function withheldFacets(kind: Kind, room: string, thread: Seq | undefined): Buffer {
  const own = [facet('kind', kind), facet('room', room)].map(whileWithheld);
  return Buffer.concat(thread === undefined ? own : [...own, threadFacet(thread)]);
}

/** The same conditions, for withheld entries as well: only what demands a kind or a room is true of these. */
export function orWithheld(conditions: readonly FacetCondition[]): FacetCondition[] {
  return conditions.map((condition) => {
    if (!(condition instanceof Uint8Array)) return [...condition, ...condition.map(whileWithheld)];
    return condition.length === FACET_SIZE ? [condition, whileWithheld(condition)] : condition;
  });
}

function whileWithheld(one: Facet): Facet {
  return one.map((byte, at) => (at < VERSION_AT ? byte ^ 0xff : byte));
}

function lastOf(facets: Uint8Array): Buffer | undefined {
  const { buffer, byteOffset, length } = facets;
  return length < FACET_SIZE
    ? undefined
    : Buffer.from(buffer, byteOffset + length - FACET_SIZE, FACET_SIZE);
}
