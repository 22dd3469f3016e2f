/**
 * Unknown bytes become a draft: the only place that judges what visitors send.
 *
 * Owns the rules of PROTOCOL.md sections 4 and 6 for bodies of any size and depth; refuses to know
 * where bytes come from and where drafts go. Upholds:
 * - a body is judged the same, to the letter, however it comes: at once, in pieces, small or large.
 * - memory stays flat: what is kept of a large body goes to a spool as it comes.
 * - whatever a visitor sends, nothing but a `GatewayError` is thrown, and a spool is then disposed.
 */
import type { Kind } from '@open-presence/protocol';

import { FACET_SIZE } from '../log/facet.ts';
import type { Draft, Spool } from '../log/log.ts';
import { HELD_FACETS } from './facet-list.ts';
import type { Grammar } from './grammar.ts';
import { LargeBody } from './large-body.ts';
import { Reader } from './body-reader.ts';
import { JsonScanner } from '../json/scanner.ts';
import { smallBody } from './small-body.ts';

/** Bodies up to so many bytes are held in memory. */
export const SMALL: number = 64 * 1024;
/** Bodies with more facets than these are spooled, however small they are. */
const FACETS_OF_SMALL = 2 * HELD_FACETS * FACET_SIZE;

/** What a body of any size is read with. */
export interface Reading {
  readonly grammar: Grammar;
  /** Where a body goes that is not small, or has many facets. */
  readonly spool: () => Spool;
  /** Digest of the idempotency key. */
  readonly key: Uint8Array | undefined;
}

/**
 * A draft of a whole small body. Its `body` may be a part of `bytes`. Throws `malformed-json`,
 * `invalid-entry` or `unknown-room`. Where it `hasManyFacets`, use `readDraft` instead.
 */
export function draftOf(kind: Kind, bytes: Uint8Array, grammar: Grammar, key?: Uint8Array): Draft {
  const words = grammar.kinds[kind];
  const small = smallBody(words, bytes);
  if (small === undefined) return rewrittenDraft(kind, bytes, grammar, key);
  const { facets, body } = small;
  const { room } = words;
  return key === undefined ? { kind, room, facets, body } : { kind, room, facets, body, key };
}

/** So many that no store should hold them in memory. */
export function hasManyFacets({ facets }: Draft): boolean {
  return facets.length > FACETS_OF_SMALL;
}

/**
 * A draft of a body that comes in chunks, which must stay as they are. Throws as `draftOf`, a
 * large body as soon as it cannot become JSON any more, and what `chunks` or the spool throws.
 */
export async function readDraft(
  kind: Kind,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { grammar, spool, key }: Reading,
): Promise<Draft> {
  const early: Uint8Array[] = [];
  let size = 0;
  let large: LargeBody | undefined;
  await using owned = new AsyncDisposableStack();
  const spoolEarly = async (): Promise<LargeBody> => {
    const begun = new LargeBody(grammar, kind, owned.use(spool()));
    for (const piece of early.splice(0)) await begun.take(piece);
    return begun;
  };
  for await (const chunk of chunks) {
    size += chunk.length;
    if (large === undefined) {
      if (chunk.length > 0) early.push(chunk);
      if (size <= SMALL) continue;
      large = await spoolEarly();
    } else {
      await large.take(chunk);
    }
  }
  if (large === undefined) {
    const small = draftOf(kind, joined(early), grammar, key);
    if (!hasManyFacets(small)) return small;
    large = await spoolEarly();
  }
  const draft = await large.draft(key);
  owned.move();
  return draft;
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function rewrittenDraft(
  kind: Kind,
  bytes: Uint8Array,
  grammar: Grammar,
  key: Uint8Array | undefined,
): Draft {
  const words = grammar.kinds[kind];
  const reader = new Reader(grammar, words, {
    capacity: bytes.length + 64,
    facets: Number.POSITIVE_INFINITY,
  });
  const scanner = new JsonScanner(reader, words.example);
  scanner.feed(bytes);
  scanner.end();
  return reader.draft(reader.body.whole(), key);
}
