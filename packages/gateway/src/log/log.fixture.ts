/** Drafts, and what else tests of a log's users make them with. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { type EntryMetadata, type Filter, FILTER_NAMES, type Kind } from '@open-presence/protocol';

import { facet } from './facet.ts';
import type { AppendResult, Draft, Spool } from './log.ts';
import type { Portability } from './portability.ts';

/** A draft, in short. */
export interface DraftFields {
  readonly kind?: Kind;
  readonly room?: string;
  readonly members?: Readonly<Partial<Record<Filter, readonly string[]>>>;
  /** Without it, the body is made from the members. */
  readonly body?: string | Uint8Array;
  readonly key?: string;
  readonly portability?: Portability;
}

/** A draft whose body is in memory. */
export interface InlineDraft extends Draft {
  readonly body: Uint8Array;
}

export const ROOMS = ['consciousness-garden', 'memory-garden', 'shepit-wall'] as const;

export function draftOf(saying: DraftFields = {}): InlineDraft {
  const { kind = 'garden', room = ROOMS[0], members = {}, key, portability = 'exact' } = saying;
  const body = saying.body ?? JSON.stringify({ text: 'тиша', ...members }).slice(1, -1);
  return {
    kind,
    room,
    facets: Buffer.concat([
      facet('kind', kind),
      facet('room', room),
      ...filtersOf(saying).map(([name, value]) => facet(name, value)),
    ]),
    body: Buffer.from(body),
    portability,
    ...(key === undefined ? {} : { key: createHash('sha256').update(key).digest() }),
  };
}

function filtersOf({ members = {} }: DraftFields): [Filter, string][] {
  return FILTER_NAMES.flatMap((name) =>
    (members[name] ?? []).map((value): [Filter, string] => [name, value]),
  );
}

/** Whole numbers from 0 to below `bound`, the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Bytes in pieces of random lengths, some of them empty. */
export function* cut(
  bytes: Uint8Array,
  longest: number,
  random: (bound: number) => number,
): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length;) {
    const end = at + random(longest + 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

export function metadataOf(appended: AppendResult): EntryMetadata {
  if (appended.outcome === 'refused') assert.fail(`refused: ${appended.code}`);
  return appended.metadata;
}

/** A body of exactly this size: JSON members, if there is room for any, without repetition. */
export function bodyOf(size: number, seed: number): Uint8Array {
  const random = randomOf(seed);
  const body = Buffer.alloc(size);
  for (let at = 0; at < size; at++) body[at] = 0x61 + random(26);
  if (size < 9) return body;
  body.write('"text":"');
  body.write('"', size - 1);
  return body;
}

/** Writes through one buffer that is overwritten whenever the spool has resolved. */
export async function fill(spool: Spool, pieces: Iterable<Uint8Array>): Promise<void> {
  let buffer = new Uint8Array(0);
  for (const piece of pieces) {
    if (buffer.length < piece.length) buffer = new Uint8Array(piece.length);
    buffer.set(piece);
    await spool.write(buffer.subarray(0, piece.length));
    buffer.fill(0x21);
  }
}
