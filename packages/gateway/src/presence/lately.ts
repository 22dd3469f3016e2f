/** Who spoke lately, and what each seeks: read from the log, remembered nowhere. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { FILTERS, type Stamp } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, Seq } from '../log/log.ts';

/** How long ago is lately. */
const LATELY_MS = 60 * 60_000;
/** So many names are known to have been told; of others the log is asked. */
const KNOWN = 1024;
/** Longer entries are not read for a name (PROTOCOL.md section 13.4). */
const LONGEST_READ = 64 * 1024;
/** How long one walk may keep the event loop before others get their turn. */
const TURN_MS = 2;

/** An identity, and its newest entry. */
export interface Spoke {
  readonly identity: string;
  readonly stamp: Stamp;
}

export interface Walk {
  /** Nothing later is in it. */
  readonly head: Seq;
  /** Each of these slugs must be the room of the newest entry. */
  readonly rooms: readonly string[];
  /** Aborted when nobody wants more. */
  readonly signal: AbortSignal;
}

/** Newest first, each identity once, whatever the number of identities in flat memory. */
export async function* lately(log: Log, walk: Walk): AsyncGenerator<Spoke, void, undefined> {
  const before = walk.head + 1;
  const known = new Set<string>();
  const facets = walk.rooms.map((slug) => facet('room', slug));
  const since = Date.now() - LATELY_MS;
  let turn = performance.now();
  for await (const entry of log.entries({ facets, order: 'newest', before, since })) {
    for (const identity of await identitiesOf(entry)) {
      const key = Buffer.from(facet('identity', identity)).toString('latin1');
      if (known.has(key)) continue;
      const isFull = known.size >= KNOWN;
      if (!isFull) known.add(key);
      const asks = isFull || facets.length > 0;
      if (asks && (await spokeSince(log, identity, entry.stamp.seq, before))) continue;
      yield { identity, stamp: entry.stamp };
    }
    if (walk.signal.aborted) return;
    if (performance.now() - turn > TURN_MS) {
      await nextTurn();
      turn = performance.now();
    }
  }
}

/** What the newest first contact of an identity seeks; nothing where that is too long. */
export async function seekingOf(log: Log, identity: string, head: Seq): Promise<readonly string[]> {
  const facets = [facet('kind', 'resonance'), facet('identity', identity)];
  const newest = { facets, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const entry of log.entries(newest)) {
    const { seeking } = await membersOf(entry);
    return Array.isArray(seeking) ? seeking.filter((thing) => typeof thing === 'string') : [];
  }
  return [];
}

/** Whether there is a newer entry that counts. */
async function spokeSince(log: Log, identity: string, after: Seq, before: Seq): Promise<boolean> {
  const facets = [facet('identity', identity)];
  for await (const { size } of log.entries({ facets, order: 'newest', after, before })) {
    if (size <= LONGEST_READ) return true;
  }
  return false;
}

/** Every name by which a listing finds the entry. */
async function identitiesOf(entry: Entry): Promise<ReadonlySet<string>> {
  const members = await membersOf(entry);
  const said = FILTERS.identity.map((name) => members[name]);
  return new Set(said.filter((name) => typeof name === 'string'));
}

const decoder = new TextDecoder();

/** None where the entry is too long. */
async function membersOf(entry: Entry): Promise<Record<string, unknown>> {
  if (entry.size > LONGEST_READ) return {};
  // Not held although it is short: it can be found by many things.
  const bytes = entry.text ?? (await gathered(entry.pieces()));
  const value: unknown = JSON.parse(decoder.decode(bytes));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces, (piece) => Buffer.from(piece)));
}
