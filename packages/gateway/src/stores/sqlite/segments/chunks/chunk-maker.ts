/** Makes files of chunks that readers have missed, in the segments' thread. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { assertStorageFault } from '../../../../storage-fault.ts';
import type { DataPaths } from '../../data-paths.ts';
import type { RowReader } from '../../log/row-reader.ts';
import type { Chunk } from './chunk-bounds.ts';
import {
  encodeChunk,
  headerOf,
  MAX_CHUNK_SIZE,
  CHUNK_JOINER,
  type ChunkFile,
  chunkPath,
  chunkFolder,
} from './chunk-files.ts';
import { isMissing, makeIfMissing } from '../../segment-record.ts';
import type { SegmentReader } from '../segment-reader.ts';

/** Readers ask again for what is forgotten. */
const MAX_WANTED = 4096;

const ONE = 'SELECT first, count FROM chunks WHERE kind = ? AND last = ?';

export interface ChunkContext {
  readonly paths: DataPaths;
  readonly log: RowReader;
  readonly reader: SegmentReader;
  readonly onSpoiled: (file: string) => void;
}

export class ChunkMaker {
  readonly #context: ChunkContext;
  /** By path. The newest are made first. */
  readonly #wanted = new Map<string, ChunkFile>();

  constructor(context: ChunkContext) {
    this.#context = context;
  }

  want(file: ChunkFile): void {
    if (this.#wanted.size < MAX_WANTED)
      this.#wanted.set(chunkPath(this.#context.paths, file), file);
  }

  /** Makes the next one. Returns false if there is none. */
  async work(): Promise<boolean> {
    const [next] = this.#wanted;
    if (next === undefined) return false;
    const [path, file] = next;
    this.#wanted.delete(path);
    if (this.#hasFile(path)) return true;
    const text = this.#textOf(file);
    if (text === undefined) return true;
    const bytes = await encodeChunk(text, file.form);
    // What was withheld meanwhile has removed the segment.
    if (this.#textOf(file)?.equals(text) !== true) return true;
    makeIfMissing(chunkFolder(this.#context.paths, file.segment));
    const temporary = `${path}.new`;
    try {
      writeFileSync(temporary, bytes);
      renameSync(temporary, path);
    } catch (error) {
      // If the disk is full, the log needs the space more.
      rmSync(temporary, { force: true });
      throw error;
    }
    return true;
  }

  /** Removes it where it is not what was written. */
  #hasFile(path: string): boolean {
    try {
      if (headerOf(readFileSync(path)) !== undefined) return true;
      this.#context.onSpoiled(path);
    } catch (error) {
      assertStorageFault(error);
      if (!isMissing(error)) throw error;
    }
    rmSync(path, { force: true });
    return false;
  }

  /** Undefined if the chunk cannot be made: part of it is unreadable, or outside the segment. */
  #textOf({ segment, kind, last }: ChunkFile): Buffer | undefined {
    const { log, reader } = this.#context;
    const chunk = reader.now(segment, (index) => index.statement(ONE).get(kind, last));
    if (chunk === undefined) return undefined;
    const { first, count } = chunk as unknown as Chunk;
    const rows = log.rows({ from: first, to: last }).filter((row) => row.kind === kind);
    const seqs = Array.from(rows, ({ seq }) => seq).toReversed();
    if (seqs.length !== count) return undefined;
    const text = log.joinTexts(seqs, CHUNK_JOINER);
    return text !== undefined && text.length <= MAX_CHUNK_SIZE ? text : undefined;
  }
}
