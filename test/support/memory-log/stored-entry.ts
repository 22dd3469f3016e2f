/** An entry as the memory store keeps it: how it is made, read, ranked and withheld. */
import { createHash, randomBytes } from 'node:crypto';

import { entryHead, type EntryMetadata, portableJson } from '@open-presence/protocol';

import { portableEntry } from '../../../packages/gateway/src/json/portable-entry.ts';
import { stringValuesIn } from '../../../packages/gateway/src/json/string-values.ts';
import { derivedFacets, isDerived } from '../../../packages/gateway/src/log/concern.ts';
import { facet, FACET_SIZE, type Facet } from '../../../packages/gateway/src/log/facet.ts';
import type {
  Draft,
  Entry,
  Seq,
  Spool,
  Withholding,
} from '../../../packages/gateway/src/log/log.ts';
import type { Portability } from '../../../packages/gateway/src/log/portability.ts';
import { threadFacet } from '../../../packages/gateway/src/log/thread.ts';
import { tokenize } from '../../../packages/gateway/src/search/tokenizer.ts';
import type { Values } from './rank.ts';

export interface StoredEntry {
  readonly metadata: EntryMetadata;
  /** The entry that begins its thread. */
  readonly thread: Seq;
  /** What it answers. */
  readonly answered: StoredEntry | undefined;
  readonly draft: Draft;
  /** In hex. */
  readonly link: string;
  readonly digest: string;
  /** What everybody reads. */
  said: Said;
  /** What is hidden. */
  kept: Said | undefined;
  withholding: Withholding | undefined;
}

interface Said {
  readonly portability: Portability;
  /** In hex. */
  readonly facets: ReadonlySet<string>;
  readonly body: Buffer;
  readonly text: Buffer;
  readonly values: Values;
  readonly spooled: boolean;
  /** What `readChain` prints before the entry. */
  readonly proof: string;
}

/** Bytes of a body whose words are found. */
const MAX_SEARCHED = 1024 * 1024;

/** What is written of a large body. */
export class MemorySpool implements Spool {
  readonly chunks: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Owns nothing but memory.
  }
}

export function bodyOf({ body }: Draft): Buffer {
  if (body instanceof MemorySpool) return Buffer.concat(body.chunks);
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new TypeError('Cannot append the spool of another log');
}

/** The facets of a draft, in hex. */
export function facetsOf({ facets }: Draft): ReadonlySet<string> {
  return new Set(split(facets));
}

/** `previous`: the link of the entry before, in hex. The link is made as PROTOCOL.md section 20.1 says. */
export function storedEntry(
  draft: Draft,
  place: Pick<StoredEntry, 'metadata' | 'thread' | 'answered'>,
  previous: string,
): StoredEntry {
  const { key, portability = 'exact' } = draft;
  const body = bodyOf(draft);
  const facets = new Set([...facetsOf(draft), hex(threadFacet(place.thread))]);
  if (place.answered !== undefined) {
    const { id, seq } = place.answered.metadata;
    facets.delete(hex(facet('inReplyTo', String(seq))));
    facets.add(hex(facet('inReplyTo', id)));
  }
  const own = entryHead(place.metadata);
  const salt = randomBytes(16);
  const digest = sha256(salt, sha256(body));
  const keyHash = key && sha256(randomBytes(16), key);
  const proof = `"salt":"${hex(salt)}"`;
  return {
    ...place,
    draft,
    link: hex(sha256(Buffer.from(previous, 'hex'), own, digest, keyHash ?? '')),
    digest: hex(digest),
    said: said({
      portability,
      facets,
      body,
      text: Buffer.concat([
        Buffer.from(own + (body.length > 0 ? ',' : '')),
        body,
        Buffer.from('}'),
      ]),
      spooled: draft.body instanceof MemorySpool,
      proof: keyHash === undefined ? proof : `${proof},"key":"${hex(keyHash)}"`,
    }),
    kept: undefined,
    withholding: undefined,
  };
}

/** The words are made when a search first needs them. */
function said(parts: Omit<Said, 'values'>): Said {
  let values: Values | undefined;
  return {
    ...parts,
    get values() {
      return (values ??= stringValuesIn(parts.body.subarray(0, MAX_SEARCHED)).map(tokenize));
    },
  };
}

/** Takes away what its visitor said, for good or until it is shown. */
export function withholdEntry(stored: StoredEntry, withholding: Withholding): void {
  const { metadata, thread, digest } = stored;
  const { time, reason, state } = withholding;
  const member = portableJson({ at: new Date(time).toISOString(), reason });
  const left = thread === metadata.seq ? '' : `,"thread":"${hex(threadFacet(thread)).slice(16)}"`;
  stored.kept = state === 'hidden' ? stored.said : undefined;
  stored.withholding = withholding;
  stored.said = said({
    portability: 'exact',
    facets: new Set([hex(facet('kind', metadata.kind)), hex(facet('room', metadata.room))]),
    body: Buffer.alloc(0),
    text: Buffer.from(`${entryHead(metadata)},"withheld":${member}}`),
    spooled: false,
    proof: stored.said.proof.replace(/"salt":"[^"]*"/, `"digest":"${digest}"${left}`),
  });
}

export function showEntry(stored: StoredEntry): void {
  stored.said = stored.kept ?? stored.said;
  stored.kept = undefined;
  stored.withholding = undefined;
}

/** Whether an entry has a facet: its own, or one that is derived from it and from what it answers. */
export function hasFacet(wanted: Facet): (entry: StoredEntry) => boolean {
  const one = hex(wanted);
  return isDerived(wanted)
    ? (entry) => entry.withholding === undefined && derivedFacetsOf(entry).includes(one)
    : ({ said }) => said.facets.has(one);
}

function derivedFacetsOf({ said, answered }: StoredEntry): readonly string[] {
  const { body, spooled } = said;
  const named = answered?.withholding === undefined ? answered?.draft.facets : undefined;
  return split(derivedFacets(spooled ? [] : stringValuesIn(body), named));
}

const CHUNK_SIZE = 65_536;

export function entryOf(stored: StoredEntry): Entry {
  return portableEntry(exactEntry(stored));
}

export function exactEntry(
  { metadata, thread, answered, withholding, said }: StoredEntry,
  { text, spooled, portability }: Said = said,
): Entry {
  return {
    metadata,
    thread,
    answered: withholding === undefined ? answered?.metadata.id : undefined,
    ...(portability === 'exact' ? {} : { portability }),
    ...(withholding === undefined ? {} : { withheld: withholding }),
    size: text.length,
    text: spooled ? undefined : text,
    async *chunks(from = 0) {
      yield* chunksOf(text.subarray(from));
    },
  };
}

export function* chunksOf(text: Buffer): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < text.length; at += CHUNK_SIZE) yield text.subarray(at, at + CHUNK_SIZE);
}

/** Concatenated facets, each in hex. */
function split(facets: Uint8Array): string[] {
  const count = facets.length / FACET_SIZE;
  return Array.from({ length: count }, (_, index) =>
    hex(facets.subarray(index * FACET_SIZE, (index + 1) * FACET_SIZE)),
  );
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
