/** Which entries concern a visitor, which of them it has not answered, and how far it has read. */
import { concerns } from '../../log/concern.ts';
import { facet, type Facet } from '../../log/facet.ts';
import type { Entry, Log, Seq } from '../../log/log.ts';
import { toJsonObject } from '../../json/json-object.ts';

/** How many of the newest entries are looked at. */
export const MAX_LOOKED_AT = 1000;

/** Answers to this many entries are looked up together: the index reads long lists once for each lookup. */
const ASKED_TOGETHER = 64;

export interface ConcernRange {
  readonly identity: string;
  readonly after: Seq;
  /** Exclusive. */
  readonly before: Seq;
  readonly signal: AbortSignal;
}

export interface FoundConcerns {
  /** The newest first. */
  readonly seqs: readonly Seq[];
  readonly lookedAt: number;
  /** The last that was looked at, if there are more. */
  readonly last: Seq | undefined;
}

export const NO_CONCERNS: FoundConcerns = { seqs: [], lookedAt: 0, last: undefined };

/** What others said that concerns the visitor by one of these facets. `isOpen`: without what it has answered. */
export async function findConcerns(
  log: Log,
  { identity, ...range }: ConcernRange,
  { facets, isOpen, limit }: { facets: readonly Facet[]; isOpen: boolean; limit: number },
): Promise<FoundConcerns> {
  const own = facet('identity', identity);
  const ids = new Map<string, Seq>();
  const newest = { ...range, order: 'newest' } as const;
  const reading = { ...newest, facets: [facets], limit: limit + 1 };
  for await (const { metadata } of log.readEntries(reading)) ids.set(metadata.id, metadata.seq);
  const all = [...ids.values()].slice(0, limit);
  const more = ids.size > limit;
  const seqs = new Set(all);
  const last = all.at(-1);
  if (last === undefined) return NO_CONCERNS;
  const ownConcerns = { ...newest, after: last - 1, facets: [facets, own] };
  for await (const { metadata } of log.readEntries(ownConcerns)) seqs.delete(metadata.seq);
  const answers = isOpen ? [...ids.keys()].map((id) => facet('inReplyTo', id)) : [];
  while (answers.length > 0) {
    const answering = { ...newest, after: last, before: Infinity };
    const wanted = { ...answering, facets: [answers.splice(0, ASKED_TOGETHER), own] };
    for await (const { answered = '' } of log.readEntries(wanted))
      seqs.delete(ids.get(answered) ?? 0);
  }
  return { seqs: [...seqs], lookedAt: all.length, last: more ? last : undefined };
}

/** What is addressed to the visitor, or answers it. */
export function letters(identity: string): readonly Facet[] {
  return concerns(identity).slice(0, 2);
}

/** How far the visitor has read, as the newest of its entries tells that has the member `seen`. */
export async function seenBy(
  log: Log,
  identity: string,
  signal: AbortSignal,
): Promise<Seq | undefined> {
  const own = {
    facets: [facet('identity', identity)],
    order: 'newest',
    limit: MAX_LOOKED_AT,
  } as const;
  for await (const entry of log.readEntries({ ...own, signal })) {
    const seen = seenIn(entry);
    if (seen !== undefined) return seen;
  }
  return undefined;
}

/** Forms and queries have numbers as texts. */
const SEQ = /^[0-9]{1,15}$/;

function seenIn({ text, metadata }: Entry): Seq | undefined {
  if (text === undefined) return undefined;
  const json = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  if (!json.includes('"seen"')) return undefined;
  const seen = String(toJsonObject(JSON.parse(json.toString()))['seen']);
  return SEQ.test(seen) && Number(seen) < metadata.seq ? Number(seen) : undefined;
}
