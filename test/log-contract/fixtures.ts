/** What the suites of the contract make drafts, bodies and pieces with. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import type { Filter, Kind, Stamp } from '@open-presence/protocol';

import { facet } from '../../packages/gateway/src/log/facet.ts';
import type { Appended, Draft, Log, ReadEnd, Spool } from '../../packages/gateway/src/log/log.ts';

/** A log under test. Disposing of it closes the log that is open then, and removes its data. */
export interface Opened extends AsyncDisposable {
  readonly log: Log;
}

export interface Reopenable extends Opened {
  /** Closes the log that is open and opens another on the same data. */
  reopen(): Promise<Log>;
}

export type Open = () => Promise<Opened>;

/** A draft in words. */
export interface Saying {
  readonly kind?: Kind;
  readonly room?: string;
  readonly members?: Readonly<Partial<Record<Filter, readonly string[]>>>;
  /** Without it, the body is made from the members. */
  readonly body?: string | Uint8Array;
  readonly key?: string;
}

/** A draft whose body is at hand. */
export interface HeldDraft extends Draft {
  readonly body: Uint8Array;
}

export const ROOMS = ['consciousness-garden', 'memory-garden', 'shepit-wall'] as const;

export function draftOf(saying: Saying = {}): HeldDraft {
  const { kind = 'garden', room = ROOMS[0], members = {}, key } = saying;
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
    ...(key === undefined ? {} : { key: createHash('sha256').update(key).digest() }),
  };
}

function filtersOf({ members = {} }: Saying): [Filter, string][] {
  const names = ['identity', 'identityType', 'seeking', 'to', 'inReplyTo'] as const;
  return names.flatMap((name) =>
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

/** A body of just so many bytes: JSON members, if that is enough for any, without repetition. */
export function bodyOf(size: number, seed: number): Uint8Array {
  const random = randomOf(seed);
  const body = Buffer.alloc(size);
  for (let at = 0; at < size; at++) body[at] = 0x61 + random(26);
  if (size < 9) return body;
  body.write('"text":"');
  body.write('"', size - 1);
  return body;
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

/** Marks facets of a filter, through a buffer that is overwritten when the spool has resolved. */
export async function mark(
  spool: Spool,
  filter: Filter,
  values: readonly string[],
  each = 777,
): Promise<void> {
  for (let at = 0; at < values.length; at += each) {
    const facets = values.slice(at, at + each).map((value) => facet(filter, value));
    const joined = Buffer.concat(facets);
    await spool.mark(joined, filter);
    joined.fill(0x21);
  }
}

export function stampOf(appended: Appended): Stamp {
  if (appended.outcome === 'refused') assert.fail(`refused: ${appended.code}`);
  return appended.stamp;
}

export interface Gathered<Item> {
  readonly items: Item[];
  readonly end: ReadEnd;
}

export async function gather<Item>(
  reading: AsyncGenerator<Item, ReadEnd, undefined>,
): Promise<Gathered<Item>> {
  const items: Item[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done === true) return { items, end: { ...step.value } };
    items.push(kept(step.value));
  }
}

/** A piece is ours only until the next. */
export function kept<Item>(item: Item): Item;
export function kept(item: unknown): unknown {
  return item instanceof Uint8Array ? Buffer.from(item) : item;
}

export async function join(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces, kept));
}

/** Says where bytes differ, instead of printing megabytes of them. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  if (Buffer.compare(actual, expected) === 0) return;
  let at = 0;
  while (at < actual.length && actual[at] === expected[at]) at++;
  const near = (bytes: Uint8Array): string =>
    JSON.stringify(Buffer.from(bytes.subarray(Math.max(0, at - 60), at + 60)).toString());
  assert.fail(
    `${what} differs at byte ${at}: wanted ${near(expected)} (${expected.length} bytes), ` +
      `got ${near(actual)} (${actual.length} bytes)`,
  );
}
