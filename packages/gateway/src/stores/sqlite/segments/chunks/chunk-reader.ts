/** Reads chunks in the thread of a listing: which there are, and their files. */
import { closeSync, openSync, read as readFile, statSync } from 'node:fs';
import { promisify } from 'node:util';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet as facetOf } from '../../../../log/facet.ts';
import type { Selection, Seq, StoredText } from '../../../../log/log.ts';
import { assertStorageFault, StorageFault } from '../../../../storage-fault.ts';
import type { DataPaths } from '../../data-paths.ts';
import type { Chunk } from './chunk-bounds.ts';
import {
  headerOf,
  JOINERS,
  MAX_CHUNK_SIZE,
  CHUNK_HEADER_SIZE,
  type ChunkFile,
  type ChunkForm,
  type ChunkHeader,
  chunkPath,
} from './chunk-files.ts';
import type { SegmentReader } from '../segment-reader.ts';

/** Pooled buffers for verifying chunks: allocating and collecting them costs more than reading the file. */
const MAX_POOLED = 4;
const MAX_FILE_SIZE = CHUNK_HEADER_SIZE + 64 + MAX_CHUNK_SIZE;
/** Files that are remembered as checked. */
const MAX_CHECKED = 16_384;

const NEWEST = `SELECT * FROM chunks
  WHERE kind = ? AND last <= ? ORDER BY first DESC LIMIT 16`;

interface CheckedFile {
  readonly state: string;
  readonly header: ChunkHeader;
}

export type ChunkText = Omit<StoredText, 'end'>;

interface ChunkContext {
  readonly paths: DataPaths;
  readonly reader: SegmentReader;
  /** Has the segments' thread make the file. */
  readonly want: (file: ChunkFile) => void;
}

export class ChunkReader {
  readonly #context: ChunkContext;
  /** By path: checking one takes half a millisecond. */
  readonly #checked = new Map<string, CheckedFile>();
  readonly #pool: Buffer[] = [];

  constructor(context: ChunkContext) {
    this.#context = context;
  }

  /** The chunks of a kind, newest first. None if the selection excludes any entry of the kind. */
  cursor({ facets, textQuery, order }: Selection, form: ChunkForm): ChunkCursor | undefined {
    const [first, second] = facets;
    if (!(first instanceof Uint8Array) || second !== undefined) return undefined;
    if (textQuery !== undefined || order !== 'newest') return undefined;
    const kind = KINDS.find((one) => Buffer.compare(facetOf('kind', one), first) === 0);
    return kind && new ChunkCursor(this, kind, form);
  }

  /** Some of the chunks of a kind that end at `last` or before, newest first. */
  newest(kind: Kind, last: Seq): readonly Chunk[] {
    const { reader } = this.#context;
    const number = reader.segments.numberOf(last);
    for (const segment of [number, number - 1]) {
      if (segment < 0) continue;
      const found = reader.now(segment, (index) => index.statement(NEWEST).all(kind, last));
      if (found?.length !== 0) return (found ?? []) as unknown as Chunk[];
    }
    return [];
  }

  /** With a joiner before it, or without. Plain if it is not stored in this encoding; undefined if in neither. */
  async text(
    { kind, last }: Chunk,
    form: ChunkForm,
    isJoined: boolean,
  ): Promise<ChunkText | undefined> {
    const { paths, reader, want } = this.#context;
    const file = { segment: reader.segments.numberOf(last), kind, last, form };
    for (const one of new Set<ChunkForm>([form, 'plain'])) {
      const path = chunkPath(paths, { ...file, form: one });
      const header = await this.#check(path);
      if (header !== undefined) return this.#textIn(path, header, one, isJoined);
      if (one === form) want(file);
    }
    return undefined;
  }

  #textIn(
    path: string,
    { length, size, crc, joinedCrc, sum }: ChunkHeader,
    form: ChunkForm,
    isJoined: boolean,
  ): ChunkText {
    const skipped = isJoined ? 0 : JOINERS[form].length;
    const verify = async (): Promise<void> => {
      if ((await this.#check(path))?.sum !== sum)
        throw new StorageFault('A chunk of entries has changed while it was read.');
    };
    const joinedSize = size + JOINERS.plain.length;
    const compressed = isJoined ? { size: joinedSize, crc: joinedCrc } : { size, crc };
    return {
      length: length - skipped,
      ...(form === 'plain' ? {} : { compressed }),
      read: async (target, from) => {
        await fill(path, target, CHUNK_HEADER_SIZE + skipped + from);
        await verify();
      },
      verify,
    };
  }

  /** Undefined where there is no such file, or not what was written. */
  async #check(path: string): Promise<ChunkHeader | undefined> {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.size > MAX_FILE_SIZE) return undefined;
    const state = `${stat.ino} ${stat.size} ${stat.ctimeMs}`;
    const checked = this.#checked.get(path);
    if (checked?.state === state) return checked.header;
    const memory = this.#pool.pop() ?? Buffer.allocUnsafeSlow(MAX_FILE_SIZE);
    try {
      const bytes = memory.subarray(0, stat.size);
      await fill(path, bytes, 0);
      const header = headerOf(bytes);
      if (header === undefined) return undefined;
      if (this.#checked.size >= MAX_CHECKED) this.#checked.clear();
      this.#checked.set(path, { state, header });
      return header;
    } catch (error) {
      assertStorageFault(error);
      return undefined;
    } finally {
      if (this.#pool.length < MAX_POOLED) this.#pool.push(memory);
    }
  }
}

const readBytes = promisify(readFile);

async function fill(path: string, target: Uint8Array, position: number): Promise<void> {
  const file = openSync(path, 'r');
  try {
    for (let at = 0; at < target.length;) {
      const length = target.length - at;
      const { bytesRead } = await readBytes(file, target, at, length, position + at);
      if (bytesRead === 0) throw new StorageFault(`${path} is too short.`);
      at += bytesRead;
    }
  } finally {
    closeSync(file);
  }
}

/** Finds the chunks of one kind, one after another. */
export class ChunkCursor {
  readonly #chunks: ChunkReader;
  readonly #kind: Kind;
  readonly #form: ChunkForm;
  #loaded: readonly Chunk[] = [];

  /** `form`: that in which texts are read where they are stored in it. */
  constructor(chunks: ChunkReader, kind: Kind, form: ChunkForm) {
    this.#chunks = chunks;
    this.#kind = kind;
    this.#form = form;
  }

  /** The newest chunk within these seqs, if it has at most `limit` entries. `last` must decrease from call to call. */
  find(first: Seq, last: Seq, limit: number): Chunk | undefined {
    let chunk = this.#loaded.find((loaded) => loaded.last <= last);
    if (chunk === undefined) {
      this.#loaded = this.#chunks.newest(this.#kind, last);
      [chunk] = this.#loaded;
    }
    return chunk !== undefined && chunk.first >= first && chunk.count <= limit ? chunk : undefined;
  }

  async read(chunk: Chunk, isJoined: boolean): Promise<ChunkText | undefined> {
    return await this.#chunks.text(chunk, this.#form, isJoined);
  }
}
