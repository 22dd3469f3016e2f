/**
 * Chunks: consecutive entries of one kind, about a megabyte, whose texts a listing sends as one file. Large
 * entries are in no chunk: a chunk ends before them. Here is only where they begin and end (see `chunk-maker.ts`).
 */
import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../../log/log.ts';
import type { EntryRow } from '../../log/entry-row.ts';

/** A chunk ends at this many bytes of entries. Only its last entry exceeds that. */
const CHUNK_SIZE = 1024 * 1024;
/** Shorter chunks, in bytes, are not worth a file. */
const MIN_CHUNK_SIZE = 64 * 1024;

export interface Chunk {
  readonly kind: Kind;
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
  /** The last entry of the kind before the chunk, if known; else the seq before the chunk. */
  readonly previous: Seq;
}

interface OpenChunk extends Chunk {
  /** Bytes of the texts. */
  readonly size: number;
}

export class ChunkBounds {
  readonly #open = new Map<Kind, OpenChunk>();
  readonly #last = new Map<Kind, Seq>();
  #ended: Chunk[] = [];

  /** Adds the next entry, which is small. */
  add({ kind, seq, size: added }: Pick<EntryRow, 'kind' | 'seq' | 'size'>): void {
    const previous = this.#last.get(kind) ?? seq - 1;
    const open = this.#open.get(kind) ?? { kind, first: seq, count: 0, size: 0, previous };
    const size = open.size + added;
    this.#open.set(kind, { ...open, last: seq, count: open.count + 1, size });
    this.#last.set(kind, seq);
    if (size >= CHUNK_SIZE) this.#end(kind);
  }

  addLarge({ kind, seq }: Pick<EntryRow, 'kind' | 'seq'>): void {
    this.#end(kind);
    this.#last.set(kind, seq);
  }

  endAll(): void {
    for (const kind of this.#open.keys()) this.#end(kind);
  }

  /** The chunks that have ended since the last call. */
  takeEnded(): readonly Chunk[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  #end(kind: Kind): void {
    const open = this.#open.get(kind);
    if (open !== undefined && open.size >= MIN_CHUNK_SIZE) this.#ended.push(open);
    this.#open.delete(kind);
  }
}
