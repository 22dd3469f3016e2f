/** An entry as the memory store keeps it: how it is made, read, ranked and withheld. */
import { createHash, randomBytes } from 'node:crypto';

import { entryHead, type EntryMetadata, type Filter } from '@open-presence/protocol';

import { portableEntry } from '../../json/portable-entry.ts';
import { stringValuesIn } from '../../json/string-values.ts';
import { derivedFacets } from '../../log/concern.ts';
import { facet, FACET_SIZE } from '../../log/facet.ts';
import type { Draft, Entry, Seq, Spool, Withholding } from '../../log/log.ts';
import type { Portability } from '../../log/portability.ts';
import { threadFacet } from '../../log/thread.ts';
import { tokenize } from '../../search/tokenizer.ts';
import type { Values } from './rank.ts';

export interface StoredEntry {
  readonly metadata: EntryMetadata;
  /** The entry that begins its thread. */
  readonly thread: Seq;
  portability: Portability;
  /** In hex. */
  facets: ReadonlySet<string>;
  readonly draft: Draft;
  /** What it answers. */
  readonly answered: StoredEntry | undefined;
  body: Buffer;
  text: Buffer;
  /** Made when a search first needs them. */
  values: Values;
  spooled: boolean;
  /** What `readChain` prints before the entry. */
  readonly link: string;
  proof: string;
  /** In hex. */
  readonly digest: string;
  withholding: Withholding | undefined;
  /** What is hidden. */
  kept: Kept | undefined;
}

type Kept = Pick<StoredEntry, 'portability' | 'facets' | 'body' | 'text' | 'spooled' | 'proof'>;

/** What is written of a large body, and its facets. */
export class MemorySpool implements Spool {
  readonly chunks: Uint8Array[] = [];
  readonly facets = new Map<Filter, Buffer>();

  async write(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes));
  }

  async addFacets(facets: Uint8Array, filter: Filter): Promise<void> {
    this.facets.set(filter, Buffer.concat([this.facets.get(filter) ?? Buffer.alloc(0), facets]));
  }

  async removeFacets(filter: Filter): Promise<void> {
    this.facets.delete(filter);
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
export function facetsOf({ facets, body }: Draft): ReadonlySet<string> {
  const spooled = body instanceof MemorySpool ? [...body.facets.values()] : [];
  return new Set(split(Buffer.concat([facets, ...spooled])));
}

/** `previous`: the link of the entry before, in hex. */
export function storedEntry(
  { metadata, thread }: Pick<StoredEntry, 'metadata' | 'thread'>,
  answered: StoredEntry | undefined,
  draft: Draft,
  body: Buffer,
  previous: string,
): StoredEntry {
  const { key, portability = 'exact', body: source } = draft;
  const spooled = source instanceof MemorySpool;
  const own = entryHead(metadata);
  let values: Values | undefined;
  const stored: StoredEntry = {
    metadata,
    thread,
    portability,
    draft,
    answered,
    facets: new Set([...facetsOf(draft), hex(threadFacet(thread))]),
    body,
    text: Buffer.concat([Buffer.from(own + (body.length > 0 ? ',' : '')), body, Buffer.from('}')]),
    get values() {
      return (values ??= stringValuesIn(stored.body).map(tokenize));
    },
    set values(others) {
      values = others;
    },
    spooled,
    withholding: undefined,
    kept: undefined,
    ...linked(own, body, key, Buffer.from(previous, 'hex')),
  };
  return stored;
}

/** PROTOCOL.md section 20.1. */
function linked(
  own: string,
  body: Uint8Array,
  key: Uint8Array | undefined,
  previous: Uint8Array,
): Pick<StoredEntry, 'link' | 'proof' | 'digest'> {
  const salt = randomBytes(16);
  const bytes = sha256(salt, sha256(body));
  const digest = hex(bytes);
  if (key === undefined) {
    return { link: hex(sha256(previous, own, bytes)), proof: `"salt":"${hex(salt)}"`, digest };
  }
  const keyHash = sha256(randomBytes(16), key);
  const link = hex(sha256(previous, own, bytes, keyHash));
  return { link, proof: `"salt":"${hex(salt)}","key":"${hex(keyHash)}"`, digest };
}

/** Takes away what its visitor said, for good or until it is shown. */
export function withholdEntry(stored: StoredEntry, withholding: Withholding): void {
  const { metadata, thread, proof, digest } = stored;
  const { portability, facets, body, text, spooled } = stored;
  const isHidden = withholding.state === 'hidden';
  stored.kept = isHidden ? { portability, facets, body, text, spooled, proof } : undefined;
  const { time, reason } = withholding;
  const member = JSON.stringify({ at: new Date(time).toISOString(), reason });
  stored.withholding = withholding;
  stored.text = Buffer.from(`${entryHead(metadata)},"withheld":${member}}`);
  stored.body = Buffer.alloc(0);
  stored.values = [];
  stored.portability = 'exact';
  stored.spooled = false;
  stored.facets = new Set([hex(facet('kind', metadata.kind)), hex(facet('room', metadata.room))]);
  const left = thread === metadata.seq ? '' : `,"thread":"${hex(threadFacet(thread)).slice(16)}"`;
  stored.proof = proof.replace(/"salt":"[^"]*"/, `"digest":"${digest}"${left}`);
}

export function showEntry(stored: StoredEntry): void {
  Object.assign(stored, stored.kept);
  stored.values = stringValuesIn(stored.body).map(tokenize);
  stored.kept = undefined;
  stored.withholding = undefined;
}

export function hiddenEntry(stored: StoredEntry): Entry {
  return exactEntry(stored.kept === undefined ? stored : { ...stored, ...stored.kept });
}

/** Whether it has a facet, in hex, of its own or one that comes from what it answers. */
export function hasFacet(stored: StoredEntry, wanted: string): boolean {
  const { facets, answered, body, spooled, withholding } = stored;
  if (facets.has(wanted) || withholding !== undefined) return facets.has(wanted);
  const named = answered?.withholding === undefined ? answered?.draft.facets : undefined;
  return split(derivedFacets(spooled ? [] : stringValuesIn(body), named)).includes(wanted);
}

const CHUNK_SIZE = 65_536;

export function entryOf(stored: StoredEntry): Entry {
  return portableEntry(exactEntry(stored));
}

export function exactEntry({
  metadata,
  thread,
  text,
  spooled,
  withholding,
  portability,
}: StoredEntry): Entry {
  return {
    metadata,
    thread,
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
