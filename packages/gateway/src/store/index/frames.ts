/**
 * Frames: consecutive small entries of one kind, about a megabyte, as a listing sends them, newest first. The
 * index has each compressed in two forms, which a listing sends as they are. A frame
 * leaves out withheld entries. Once an entry of its range is withheld or shown, it is made again; until then, and for
 * the newest entries, the rows of the log are read.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  constants,
  crc32,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';

import { type Kind, KINDS } from '@open-presence/protocol';

import { facet as facetOf } from '../../log/facet.ts';
import type { Selection, Seq, StoredEncoding, StoredText } from '../../log/log.ts';
import { StorageFault } from '../../storage-fault.ts';
import type { EntryRow } from '../log/entry-row.ts';
import type { RowReader } from '../log/row-reader.ts';
import type { SharedState } from '../shared-state.ts';
import type { IndexReader } from './index-database.ts';

/** A frame ends at this many bytes of entries. Only its last entry exceeds that. */
const FRAME_SIZE = 1024 * 1024;
/** Of a rare kind, a frame ends after this many seqs, and is left out if it has few bytes. */
const MAX_SPAN = 65_536;
const MIN_FRAME_SIZE = 64 * 1024;
/** Joins the entries of a frame, and frames. */
export const FRAME_JOINER = ',\n';
/** The same compressed: a raw block in a zstd frame, a stored block of a deflate stream. */
const JOINERS: Readonly<Record<StoredEncoding, Buffer>> = {
  zstd: Buffer.from('28b52ffd20021100002c0a', 'hex'),
  gzip: Buffer.from('000200fdff2c0a', 'hex'),
};
/** Empty. */
const LAST_BLOCK = Buffer.of(3, 0);
/** A full flush ends the bytes at a byte, and what follows refers to nothing in them. */
const DEFLATE = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_FULL_FLUSH };

export interface Frame {
  readonly number: number;
  readonly kind: Kind;
  readonly first: Seq;
  readonly last: Seq;
  readonly previous: Seq;
  readonly count: number;
  readonly known: number;
  readonly size: number;
  readonly crc: number;
  readonly joined: number;
}

interface OpenFrame {
  readonly seqs: Seq[];
  readonly previous: Seq;
  size: number;
}

/** A frame to be made. */
interface WantedFrame extends Pick<Frame, 'kind' | 'previous'> {
  /** Oldest first. Withheld entries may be among them: they may be shown before the frame is made. */
  readonly seqs: () => Seq[];
}

export type FramedEntry = Pick<EntryRow, 'kind' | 'seq' | 'size' | 'large'>;

export interface FramedLog {
  readonly log: RowReader;
  readonly shared: SharedState;
}

const FOUND = 'SELECT number, kind, first, last, previous FROM frames';

/** Makes frames, in the thread of the index. */
export class FrameMaker {
  readonly #log: RowReader;
  readonly #shared: SharedState;
  readonly #insert: StatementSync;
  readonly #all: StatementSync;
  readonly #one: StatementSync;
  readonly #remove: StatementSync;
  readonly #open = new Map<Kind, OpenFrame>();
  readonly #last = new Map<Kind, Seq>();
  readonly #wanted: WantedFrame[] = [];

  constructor(db: DatabaseSync, { log, shared }: FramedLog) {
    this.#log = log;
    this.#shared = shared;
    this.#insert = db.prepare('INSERT INTO frames VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#all = db.prepare(FOUND);
    this.#one = db.prepare(`${FOUND} WHERE number = ?`);
    this.#remove = db.prepare('DELETE FROM frames WHERE number = ?');
  }

  /** Takes the next entry that is indexed. */
  add({ kind, seq, size, large }: FramedEntry): void {
    const previous = this.#last.get(kind) ?? seq - 1;
    const open = this.#open.get(kind) ?? { seqs: [], previous, size: 0 };
    this.#open.set(kind, open);
    this.#last.set(kind, seq);
    if (large === undefined) {
      open.seqs.push(seq);
      open.size += size;
      const span = seq - (open.seqs[0] ?? seq);
      if (open.size < FRAME_SIZE && span < MAX_SPAN) return;
    }
    this.#open.delete(kind);
    if (open.size >= MIN_FRAME_SIZE)
      this.#wanted.push({ kind, previous: open.previous, seqs: () => open.seqs });
  }

  /** Makes the next frame. Returns whether there was one to make. */
  work(): boolean {
    const wanted = this.#wanted.shift();
    if (wanted !== undefined) this.#make(wanted);
    return wanted !== undefined;
  }

  /** Removes the frames that have one of these entries, ascending, in the caller's transaction. They are made again later. */
  removeWith(seqs: readonly Seq[]): void {
    for (const frame of this.#all.all() as unknown as Frame[])
      if (seqs.some((seq) => seq >= frame.first && seq <= frame.last)) this.#renew(frame);
  }

  /** Makes the frame with this number again, later. Until then, the rows are read. */
  renew(number: number): void {
    for (const frame of this.#one.all(number) as unknown as Frame[]) this.#renew(frame);
  }

  #renew(frame: Frame): void {
    this.#remove.run(frame.number);
    this.#wanted.push({ ...frame, seqs: () => seqsOf(this.#log, frame) });
  }

  #make({ kind, previous, seqs: seqsIn }: WantedFrame): void {
    const known = this.#shared.withheldInLog;
    const all = seqsIn();
    const seqs = this.#log.withheld.shown(all);
    if (seqs.length === 0) return;
    const text = this.#log.joinTexts(seqs.toReversed(), FRAME_JOINER);
    // One of them cannot be read.
    if (text === undefined) return;
    const [first = 0, last = 0] = [seqs[0], seqs.at(-1)];
    const crc = crc32(text);
    const joined = crc32(text, crc32(FRAME_JOINER));
    const [zstd, gzip] = [zstdCompressSync(text), deflateRawSync(text, DEFLATE)];
    const { length: count } = seqs;
    // What is withheld before the first one may be shown again.
    const before = first === all[0] ? previous : first - 1;
    const numbers = [first, last, before, count, known, text.length, crc, joined];
    this.#insert.run(kind, ...numbers, zstd, gzip);
  }
}

/** The entries of the kind in the range of a frame, oldest first. */
export function seqsOf(
  log: RowReader,
  { kind, first, last }: Pick<Frame, 'kind' | 'first' | 'last'>,
): Seq[] {
  const rows = log.rows({ from: first, to: last }).filter((row) => row.kind === kind);
  return Array.from(rows, ({ seq }) => seq);
}

/** The text of part of a deflate stream. Throws if that is none. */
export function inflated(deflated: Uint8Array): Buffer {
  return inflateRawSync(Buffer.concat([deflated, LAST_BLOCK]));
}

const NEWEST = `SELECT number, kind, first, last, previous, count, known, size, crc, joined
  FROM frames WHERE kind = ? AND last <= ? ORDER BY last DESC LIMIT 1`;
/** Finds a case that a frame does not know. */
export const LATER = 'SELECT 1 FROM withheld WHERE seq BETWEEN ? AND ? AND number > ? LIMIT 1';

/** Reads the frames of one kind, in the thread of a listing, newest first. */
export class FrameReader {
  readonly #index: IndexReader;
  readonly #kind: Kind;
  readonly #later: StatementSync;
  readonly #onStale: (number: number) => void;

  /** `onStale`: called with a frame that is to be made again. */
  constructor(
    index: IndexReader,
    log: DatabaseSync,
    { kind, onStale }: { readonly kind: Kind; readonly onStale: (number: number) => void },
  ) {
    this.#index = index;
    this.#kind = kind;
    this.#later = log.prepare(LATER);
    this.#onStale = onStale;
  }

  /** The newest frame that ends at `last` or before, if it can be used. */
  find(last: Seq): Frame | undefined {
    const found = this.#index.read((index) => index.statement(NEWEST).get(this.#kind, last));
    const frame = found as Frame | undefined;
    if (frame === undefined || this.#isUsable(frame)) return frame;
    this.#onStale(frame.number);
    return undefined;
  }

  /** Undefined if the frame was made again since. */
  text({ number }: Frame): Buffer | undefined {
    const sql = 'SELECT zstd FROM frames WHERE number = ?';
    const found = this.#index.read((index) => index.statement(sql).get(number)?.['zstd']);
    return found instanceof Uint8Array ? zstdDecompressSync(found) : undefined;
  }

  /** With a joiner before it, or without. Undefined if the frame was made again since. */
  stored(
    frame: Frame,
    encoding: StoredEncoding,
    isJoined: boolean,
  ): Omit<StoredText, 'end'> | undefined {
    const joiner = isJoined ? JOINERS[encoding] : Buffer.alloc(0);
    const { number, size, crc, joined } = frame;
    const sizeOf = `SELECT octet_length(${encoding}) AS size FROM frames WHERE number = ?`;
    const found = this.#index.read((index) => index.statement(sizeOf).get(number)?.['size']);
    if (found === undefined) return undefined;
    const length = joiner.length + Number(found);
    const part = `SELECT substr(${encoding}, ?, ?) AS bytes FROM frames WHERE number = ?`;
    const verify = async (): Promise<void> => {
      const isThere = this.#index.statement(sizeOf).get(number) !== undefined;
      if (!isThere || !this.#isUsable(frame))
        throw new StorageFault('Entries were withheld while they were read.');
    };
    return {
      length,
      compressed: isJoined ? { size: size + FRAME_JOINER.length, crc: joined } : { size, crc },
      read: async (target, from) => {
        await verify();
        const own = joiner.subarray(from, from + target.length);
        target.set(own);
        const at = Math.max(0, from - joiner.length) + 1;
        const rest = target.subarray(own.length);
        const row = this.#index.statement(part).get(at, rest.length, number);
        rest.set((row?.['bytes'] ?? []) as Uint8Array);
      },
      verify,
    };
  }

  #isUsable({ first, last, known }: Frame): boolean {
    return this.#later.get(first, last, known) === undefined;
  }
}

/** The kind that a selection has all entries of, newest first; undefined if it excludes any. */
export function kindOf({ facets, textQuery, order, withheld }: Selection): Kind | undefined {
  const [first, second] = facets;
  if (!(first instanceof Uint8Array) || second !== undefined) return undefined;
  if (textQuery !== undefined || order !== 'newest' || withheld === 'include') return undefined;
  return KINDS.find((kind) => Buffer.compare(facetOf('kind', kind), first) === 0);
}
