/**
 * Finds the entry of an idempotency key, and compares it with the draft that has the same key. What
 * `Keys` says is checked against the entry before it refuses a draft.
 *
 * Invariant: One idempotency key makes one entry, at any time, from any number of concurrent
 *   callers.
 * Test: `test/log-contract/idempotency-keys.ts` “used 50 times at once makes one entry” “with the
 *   same content again is the same entry, at any later time”
 * Test: `packages/gateway/src/stores/sqlite/writer/key-lookup.test.ts` “has its one entry after …”
 *   “finds its one entry whatever bit of its row has changed” “finds its one entry whatever has
 *   become of the file, which is whole again then”
 */
import { BodyDigest, type PackedDraft } from '../../../log/packed-drafts.ts';
import type { Seq } from '../../../log/log.ts';
import { isDiskFull, isSpoiled, readable } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { largeChunksSync } from '../large/large-files.ts';
import { digestOf, FIRST_LINK, keyIn, linkOf, sha256, withKey } from '../log/chain.ts';
import type { EntryRow } from '../log/entry-row.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { Keys } from './keys.ts';

interface FoundKey {
  readonly outcome: 'repeated' | 'conflict' | 'unavailable' | 'out-of-space';
  /** Undefined if the entry is unavailable: it cannot be read, or it is unknown now which one it is. */
  readonly entry: EntryRow | undefined;
}

const OUT_OF_SPACE: FoundKey = { outcome: 'out-of-space', entry: undefined };
const UNAVAILABLE: FoundKey = { outcome: 'unavailable', entry: undefined };

interface KeyedDraft {
  readonly key: Uint8Array;
  readonly draft: PackedDraft;
  readonly digest: Uint8Array;
}

export class KeyLookup {
  readonly #paths: DataPaths;
  readonly #reader: RowReader;
  readonly #keys: Keys;

  constructor(paths: DataPaths, reader: RowReader, keys: Keys) {
    this.#paths = paths;
    this.#reader = reader;
    this.#keys = keys;
  }

  /** The entry with the key, and whether it is the draft. */
  find(request: KeyedDraft): FoundKey | undefined {
    const seqs = this.#keys.find(request.key);
    if (seqs === undefined) {
      const { fault } = this.#keys;
      return fault && isDiskFull(fault) ? OUT_OF_SPACE : UNAVAILABLE;
    }
    try {
      for (const seq of seqs) {
        const entry = this.#reader.entry(seq);
        // The log has lost it: whether it is the draft is unknown.
        if (entry === undefined) return UNAVAILABLE;
        const outcome = this.#compare(entry, request);
        if (outcome !== undefined) return { outcome, entry };
      }
      return undefined;
    } catch (error) {
      // What cannot be read for one draft must not fail the drafts beside it.
      if (isSpoiled(error)) return UNAVAILABLE;
      throw error;
    }
  }

  /** Undefined if the entry has another key. */
  #compare(row: EntryRow, { key, draft, digest }: KeyedDraft): 'repeated' | 'conflict' | undefined {
    const isSamePlace = row.kind === draft.kind && row.room === draft.room;
    const hasKey = row.key !== undefined && equal(keyIn(row.key), key);
    if (row.withheld !== undefined) {
      // Whatever the body is: nobody knows which one the entry had.
      if (!hasKey) return undefined;
      return isSamePlace ? 'repeated' : 'conflict';
    }
    // Proven without the stored body, if the link was made of this key and this body.
    if (row.key !== undefined && isSamePlace) {
      const keyHash = sha256(withKey(row.key, key));
      if (this.#isLinked(row, { keyHash, body: digest })) return 'repeated';
    }
    // A large body of another size need not be read.
    const stored = !hasKey || hasSameSize(row, draft) ? this.#digestOf(row) : undefined;
    const isSame = isSamePlace && stored !== undefined && equal(stored, digest);
    // Other keys may begin with the same bytes. But if this entry's key column has changed, it is the one.
    if (!hasKey && stored && this.#isLinked(row, { keyHash: row.keyHash, body: stored }))
      return undefined;
    return isSame ? 'repeated' : 'conflict';
  }

  /** Whether the link of the entry was made of these. */
  #isLinked(
    { seq, link, salt, text, head }: EntryRow,
    { keyHash, body }: { readonly keyHash: Uint8Array | undefined; readonly body: Uint8Array },
  ): boolean {
    const previous = seq === 1 ? FIRST_LINK : this.#linkAt(seq - 1);
    const parts = { head: text.subarray(0, head), digest: digestOf(salt, body), keyHash };
    return previous !== undefined && equal(linkOf(previous, parts), link);
  }

  #linkAt(seq: Seq): Uint8Array | undefined {
    return readable(() => this.#reader.linkOf(seq));
  }

  #digestOf({ large, head, text }: EntryRow): Uint8Array {
    if (large === undefined) return sha256(text.subarray(head + 1, -1));
    const body = new BodyDigest();
    for (const chunk of largeChunksSync(this.#paths, large)) body.add(chunk);
    return body.digest();
  }
}

function hasSameSize({ size, head }: EntryRow, { body, large }: PackedDraft): boolean {
  const bodySize = large === undefined ? body.length : large.size - 1;
  return size - head === (bodySize === 0 ? 1 : bodySize + 2);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
