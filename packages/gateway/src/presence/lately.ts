/** Who spoke lately, and what each seeks: read from the log, remembered nowhere. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { FILTERS, type Stamp } from '@open-presence/protocol';

import { facet } from '../log/facet.ts';
import type { Entry, Log, Seq } from '../log/log.ts';

/** How long ago is lately. */
const LATELY_MS = 60 * 60_000;
/** So many names are known to have been told; of others the log is asked. */
const KNOWN = 1024;
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
    for (const identity of identitiesOf(entry)) {
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

/** What the newest first contact of an identity seeks; nothing where it cannot be held. */
export async function seekingOf(log: Log, identity: string, head: Seq): Promise<readonly string[]> {
  const facets = [facet('kind', 'resonance'), facet('identity', identity)];
  const newest = { facets, order: 'newest', before: head + 1, limit: 1 } as const;
  for await (const entry of log.entries(newest)) {
    const { seeking } = membersOf(entry);
    return Array.isArray(seeking) ? seeking.filter((thing) => typeof thing === 'string') : [];
  }
  return [];
}

/** Whether there is a newer entry that counts: one that can be held. */
async function spokeSince(log: Log, identity: string, after: Seq, before: Seq): Promise<boolean> {
  const facets = [facet('identity', identity)];
  for await (const { text } of log.entries({ facets, order: 'newest', after, before })) {
    if (text !== undefined) return true;
  }
  return false;
}

/** By every name by which a listing finds the entry. */
function identitiesOf(entry: Entry): ReadonlySet<string> {
  const members = membersOf(entry);
  const said = FILTERS.identity.map((name) => members[name]);
  return new Set(said.filter((name) => typeof name === 'string'));
}

const decoder = new TextDecoder();

/** None where the entry is too large to be held. */
function membersOf({ text }: Entry): Record<string, unknown> {
  const value: unknown = text === undefined ? undefined : JSON.parse(decoder.decode(text));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
