/**
 * Reads single entries, and joins the texts of several. What the disk has lost is left out.
 *
 * Invariant: A damaged entry costs nobody another entry.
 * Test: `test/crash/unreadable.test.ts` “is left out until its file is back, and its address says so”
 *   “costs the entries in it, at start and while running”
 * Test: `packages/gateway/src/store/log/row-reader.test.ts` “costs its entry at most,
 *   whichever bit it is, in whatever way others are read”
 */
import { GatewayError } from '@open-presence/protocol';

import { inMemory, portableEntry } from '../../json/portable-entry.ts';
import type { Entry, Seq } from '../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable } from '../database.ts';
import type { RowReader } from './row-reader.ts';
import { type EntryRow, metadataOf } from './entry-row.ts';
import { hasLargeFile, isFileFault, largeChunks } from '../large/large-files.ts';

const WITHDRAWN = 'The entry was withheld while it was read.';

type Found = Entry | Promise<Entry | undefined> | undefined;

export class EntryReader {
  readonly #paths: DataPaths;
  readonly #log: RowReader;

  constructor(log: RowReader, paths: DataPaths) {
    this.#paths = paths;
    this.#log = log;
  }

  /** The entry in its portable form. Undefined if it cannot be read; a promise if its file must be looked at. */
  entry(seq: Seq): Found {
    const exact = this.exactEntry(seq);
    if (exact instanceof Promise) return exact.then((found) => found && portableEntry(found));
    return exact && portableEntry(exact);
  }

  /** With what it says although it is hidden. */
  hiddenEntry(seq: Seq): Found {
    const { withheld } = this.#readable(seq) ?? {};
    if (withheld?.state !== 'hidden') return this.exactEntry(seq);
    const stored = this.#log.stored(seq);
    // In a cluster, it may have come erased.
    if (stored?.isErased !== false) return this.exactEntry(seq);
    return this.#entryOf(stored, withheld);
  }

  exactEntry(seq: Seq): Found {
    const row = this.#readable(seq);
    return row && this.#entryOf(row);
  }

  /** `hidden`: why nobody else reads it. */
  #entryOf(row: EntryRow, hidden?: Entry['withheld']): Found {
    const metadata = metadataOf(row);
    const { size, text, large, withheld = hidden, thread, answered } = row;
    const portability = portabilityMember(row);
    const marks = { ...portability, ...(withheld === undefined ? {} : { withheld }) };
    if (row.withheld === undefined && large !== undefined)
      return this.#largeEntry({ metadata, thread, answered, size, ...marks }, text, large);
    return { metadata, thread, answered, ...inMemory(text), ...marks };
  }

  /** `text`: the bytes of the entry that are not in the file. */
  async #largeEntry(
    known: Pick<Entry, 'metadata' | 'thread' | 'answered' | 'size' | 'portability' | 'withheld'>,
    text: Uint8Array,
    file: string,
  ): Promise<Entry | undefined> {
    const { metadata, size } = known;
    const paths = this.#paths;
    const isWithdrawn = (): boolean =>
      known.withheld === undefined && this.#readable(metadata.seq)?.withheld !== undefined;
    if (!(await hasLargeFile(paths, file, size - text.length)))
      return isWithdrawn() ? await this.exactEntry(metadata.seq) : undefined;
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
          throw isFileFault(error) && isWithdrawn()
            ? new GatewayError('unavailable', WITHDRAWN)
            : error;
        }
      },
    };
  }

  #readable(seq: Seq): EntryRow | undefined {
    return readable(() => this.#log.entry(seq));
  }

  /** `seqs`: at least one, in either order. Undefined if they must be read one by one. */
  joinTexts(seqs: readonly Seq[], joiner: string): Uint8Array | undefined {
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
