/**
 * Chunks: consecutive entries of one kind, about a megabyte, whose texts a listing sends as one file. Large
 * entries are in no chunk: a chunk ends before them. Here is only where they begin and end (see `chunk-maker.ts`).
 */
import type { Kind } from '@open-presence/protocol';

import type { Seq } from '../../../../log/log.ts';
import type { EntryRow } from '../../log/entry-row.ts';

/** A chunk ends when it has this many bytes of entries. Only its last entry exceeds that. */
const CHUNK_SIZE = 1024 * 1024;
/** Shorter chunks, in bytes, are not worth a file. */
const MIN_CHUNK_SIZE = 64 * 1024;

export interface Chunk {
  readonly kind: Kind;
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
}

interface OpenChunk extends Chunk {
  /** Bytes of the texts. */
  readonly size: number;
}

export class ChunkBounds {
  readonly #open = new Map<Kind, OpenChunk>();
  #ended: Chunk[] = [];

  /** Adds the next entry, which is small. */
  add({ kind, seq, size: added }: Pick<EntryRow, 'kind' | 'seq' | 'size'>): void {
    const open = this.#open.get(kind) ?? { first: seq, count: 0, size: 0 };
    const size = open.size + added;
    this.#open.set(kind, { kind, first: open.first, last: seq, count: open.count + 1, size });
    if (size >= CHUNK_SIZE) this.end(kind);
  }

  /** Ends the chunk of a kind. */
  end(kind: Kind): void {
    const open = this.#open.get(kind);
    if (open !== undefined && open.size >= MIN_CHUNK_SIZE) this.#ended.push(open);
    this.#open.delete(kind);
  }

  endAll(): void {
    for (const kind of this.#open.keys()) this.end(kind);
  }

  /** Those that have ended since the last call. */
  takeEnded(): readonly Chunk[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}
