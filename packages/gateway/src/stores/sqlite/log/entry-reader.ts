import {
  entryHead,
  entryId,
  GatewayError,
  seqOfId,
  type EntryMetadata,
} from '@open-presence/protocol';

import { inMemory, portableEntry } from '../../../json/portable-entry.ts';
import { BodyDigest } from '../../../log/packed-drafts.ts';
import type { Entry, Seq } from '../../../log/log.ts';
import { StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { RowReader } from './row-reader.ts';
import { type EntryRow, metadataOf } from './entry-row.ts';
import { linkFault } from './chain-verifier.ts';
import { isFileFault, largeChunks, largeFault } from '../large/large-files.ts';

/** Entries that are not to be tried, and where to report others. */
export interface KnownDamage {
  readonly size: number;
  has(seq: Seq): boolean;
  report(seq: Seq, fault: Error): void;
}

const EMPTY = new Uint8Array(0);
const WITHDRAWN = 'The entry was withheld while it was read.';

export class EntryReader {
  readonly #paths: DataPaths;
  readonly #log: RowReader;
  readonly #damage: KnownDamage;

  constructor(log: RowReader, paths: DataPaths, damage: KnownDamage) {
    this.#paths = paths;
    this.#log = log;
    this.#damage = damage;
  }

  /** The entry in its portable form. Undefined if it is unreadable; a promise if its file must be looked at. */
  entry(seq: Seq): Entry | Promise<Entry> | undefined {
    const exact = this.exactEntry(seq);
    return exact instanceof Promise ? exact.then(portableEntry) : exact && portableEntry(exact);
  }

  /** With what it says although it is hidden. */
  hiddenEntry(seq: Seq): Entry | Promise<Entry> | undefined {
    const { withheld } = this.#readable(seq) ?? {};
    if (withheld?.state !== 'hidden') return this.exactEntry(seq);
    const stored = this.#log.stored(seq);
    // In a cluster, it may have come erased.
    if (stored?.isErased !== false) return this.exactEntry(seq);
    return this.#entryOf(stored, withheld);
  }

  exactEntry(seq: Seq): Entry | Promise<Entry> | undefined {
    const row = this.#readable(seq);
    return row && this.#entryOf(row);
  }

  /** `hidden`: why nobody else reads it. */
  #entryOf(row: EntryRow, hidden?: Entry['withheld']): Entry | Promise<Entry> {
    const { seq } = row;
    const metadata = metadataOf(row);
    const { size, text, large, withheld = hidden, thread } = row;
    const portability = portabilityMember(row);
    const marks = { ...portability, ...(withheld === undefined ? {} : { withheld }) };
    if (row.withheld === undefined) {
      if (this.#damage.has(seq)) return unreadableEntry(metadata, thread);
      if (large !== undefined)
        return this.#largeEntry({ metadata, thread, size, ...marks }, text, large);
    }
    return { metadata, thread, ...inMemory(text), ...marks };
  }

  /**
   * The exact entry. Unreadable if its link does not hold. The last bytes of a large entry come after all are
   * verified.
   */
  async verifiedEntry(seq: Seq): Promise<Entry | undefined> {
    const found = await this.exactEntry(seq);
    if (found === undefined || found.unreadable === true) return found;
    if (found.text === undefined) {
      const chunks = (from = 0): AsyncIterable<Uint8Array> =>
        from === 0 ? this.#verifiedChunks(found) : found.chunks(from);
      return { ...found, chunks };
    }
    const fault = await linkFault(this.#log, this.#paths, seq);
    if (fault === undefined) return found;
    this.#damage.report(seq, new StorageFault(fault));
    return await this.exactEntry(seq);
  }

  /** The first chunk is in the row, the others are in the file. */
  async *#verifiedChunks(entry: Entry): AsyncGenerator<Uint8Array> {
    const { size } = entry;
    const { seq } = entry.metadata;
    const body = new BodyDigest();
    let isInRow = true;
    // Reused for each chunk, since garbage of this size would pile up.
    let memory: Buffer | undefined;
    let held: Uint8Array = EMPTY;
    for await (const chunk of entry.chunks()) {
      if (isInRow) yield chunk;
      else {
        body.add(chunk);
        if (held.length > 0) yield held;
        if (memory === undefined || memory.length < chunk.length)
          memory = Buffer.allocUnsafeSlow(chunk.length);
        memory.set(chunk);
        held = memory.subarray(0, chunk.length);
      }
      isInRow = false;
    }
    const read = { digest: body.digest(), size, framed: true };
    const fault = await linkFault(this.#log, this.#paths, seq, { body: read });
    if (fault !== undefined) {
      throw this.#breakOff(seq, new StorageFault(`Entry ${seq} ${fault}.`));
    }
    yield held;
  }

  /** `text`: the bytes of the entry that are not in the file. */
  async #largeEntry(
    known: Pick<Entry, 'metadata' | 'thread' | 'size' | 'portability' | 'withheld'>,
    text: Uint8Array,
    file: string,
  ): Promise<Entry> {
    const { metadata, thread, size } = known;
    const paths = this.#paths;
    const fault = await largeFault(paths, file, size - text.length);
    if (fault !== undefined)
      return this.#report(metadata.seq, fault)
        ? unreadableEntry(metadata, thread)
        : this.#readAgain(metadata, thread);
    const breakOff = (error: Error): Error => this.#breakOff(metadata.seq, error);
    const isWithdrawn = (): boolean =>
      known.withheld === undefined && this.#readable(metadata.seq)?.withheld !== undefined;
    return {
      ...known,
      text: undefined,
      async *chunks(from = 0): AsyncGenerator<Uint8Array> {
        if (from < text.length) yield text.subarray(from);
        try {
          const start = Math.max(0, from - text.length);
          for await (const chunk of largeChunks(paths, file, start, size - text.length)) {
            // The file of a hidden entry stays.
            if (isWithdrawn()) throw new GatewayError('unavailable', WITHDRAWN);
            yield chunk;
          }
        } catch (error) {
          throw isFileFault(error) ? breakOff(error) : error;
        }
      },
    };
  }

  /** The error that breaks off an answer that has begun. Later answers mark the entry as damaged. */
  #breakOff(seq: Seq, fault: Error): Error {
    if (this.#report(seq, fault)) return fault;
    return new GatewayError('unavailable', WITHDRAWN);
  }

  /** Reports damage. Returns false if there is none: the entry was withheld while it was read. */
  #report(seq: Seq, fault: Error): boolean {
    if (this.#readable(seq)?.withheld !== undefined) return false;
    this.#damage.report(seq, fault);
    return true;
  }

  async #readAgain(metadata: EntryMetadata, thread: Seq): Promise<Entry> {
    return (await this.exactEntry(metadata.seq)) ?? unreadableEntry(metadata, thread);
  }

  #readable(seq: Seq): EntryRow | undefined {
    try {
      return this.#log.entry(seq);
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      this.#damage.report(seq, error);
      return undefined;
    }
  }

  /** Whether an entry of the span, both ends included, is known to be unreadable. */
  hasDamaged(from: Seq, to: Seq): boolean {
    if (this.#damage.size === 0) return false;
    for (let seq = from; seq <= to; seq += 1) if (this.#damage.has(seq)) return true;
    return false;
  }

  /** `seqs`: at least one, in either order. Undefined if they must be read one by one. */
  joinTexts(seqs: readonly Seq[], joiner: string): Uint8Array | undefined {
    if (this.#damage.size > 0 && seqs.some((seq) => this.#damage.has(seq))) return undefined;
    return this.#log.joinTexts(seqs, joiner);
  }

  /** The first seq with at least this time, `head` + 1 if there is none. */
  firstSince(time: number, head: Seq): Seq {
    // A binary search: times never decrease along seq.
    let low = 1;
    let high = head + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#timeFrom(middle, high) >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The time of the first entry that can be read, from `seq` up to before `end`. */
  #timeFrom(seq: Seq, end: Seq): number {
    for (let at = seq; at < end; at += 1) {
      const row = this.#readable(at);
      if (row !== undefined) return row.time;
    }
    return Infinity;
  }
}

function portabilityMember({ portability }: EntryRow): Pick<Entry, 'portability'> {
  return portability === 'exact' ? {} : { portability };
}

/** An entry with only the gateway's members, since the rest is unknown (PROTOCOL.md section 4.6). */
function unreadableEntry(metadata: EntryMetadata, thread: Seq): Entry {
  const isValid = seqOfId(metadata.id) === metadata.seq;
  const id = isValid ? metadata.id : entryId(metadata.time, metadata.seq, 0);
  const own = { ...metadata, id };
  const text = Buffer.from(`${entryHead(own)},"unreadable":true}`);
  return { metadata: own, thread, ...inMemory(text), unreadable: true };
}
