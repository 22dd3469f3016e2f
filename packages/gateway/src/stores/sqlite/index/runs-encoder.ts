/**
 * Keeps runs compressed as readers ask for them, so that a listing is not compressed anew for each.
 * Compresses what is missing once a reader has missed it. Owns the files of compressed runs and
 * their rows; what is spoiled there is removed, and compressed again for the next reader.
 */
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { constants, crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';

import { type Kind, KINDS } from '@open-presence/protocol';

import type { Seq, StoredEncoding } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import {
  type EncodedRun,
  encodedBytes,
  eraseRun,
  plainBytes,
  readRun,
  type Run,
  RUN_JOINER,
  runHolds,
  runsFile,
  sumOf,
} from './runs-files.ts';

export const STORED_ENCODINGS: readonly StoredEncoding[] = ['zstd', 'gzip'];

/** The joiner as a zstd frame of one raw block, and as a stored block of a deflate stream. */
export const ENCODED_JOINERS: Readonly<Record<StoredEncoding, Buffer>> = {
  zstd: Buffer.from('28b52ffd20021100002c0a', 'hex'),
  gzip: Buffer.from('000200fdff2c0a', 'hex'),
};

/** Smaller than gzip by a little, and decompressed in half the time. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 9 } };
/** A full flush ends the part at a byte, and the next one refers to nothing in it. */
const DEFLATE = { finishFlush: constants.Z_FULL_FLUSH, chunkSize: 256 * 1024 };
const ENCODERS: Readonly<Record<StoredEncoding, (text: Uint8Array) => Buffer>> = {
  zstd: (text) => zstdCompressSync(text, ZSTD),
  gzip: (text) => deflateRawSync(text, DEFLATE),
};

const END = `SELECT coalesce(max(position + length), 0) AS at FROM encoded_runs
  WHERE kind = ? AND encoding = ?`;

export class RunsEncoder {
  readonly #paths: DataPaths;
  readonly #index: DatabaseSync;
  readonly #missing: StatementSync;
  readonly #run: StatementSync;
  readonly #encoded: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;

  constructor(index: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#index = index;
    this.#missing = index.prepare(`SELECT * FROM runs AS r WHERE last < ? AND NOT EXISTS
      (SELECT 1 FROM encoded_runs WHERE kind = r.kind AND encoding = ? AND last = r.last)
      ORDER BY last DESC LIMIT 1`);
    this.#run = index.prepare('SELECT 1 FROM runs WHERE kind = ? AND last = ?');
    this.#encoded = index.prepare(
      'SELECT * FROM encoded_runs WHERE kind = ? AND encoding = ? AND last = ?',
    );
    this.#put = index.prepare('INSERT INTO encoded_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#remove = index.prepare(
      'DELETE FROM encoded_runs WHERE kind = ? AND encoding = ? AND last BETWEEN ? AND ?',
    );
    for (const kind of KINDS) for (const encoding of STORED_ENCODINGS) this.#check(kind, encoding);
  }

  /**
   * Compresses the newest run before `last` that is not there in this encoding. Returns its last seq,
   * or undefined if there was none.
   */
  encodeNext(encoding: StoredEncoding, last: Seq): Seq | undefined {
    const row = this.#missing.get(last, encoding);
    if (row === undefined) return undefined;
    const run = row as unknown as Run;
    const kind = row['kind'] as Kind;
    const text = readRun(plainBytes(this.#paths, kind, run))?.subarray(RUN_JOINER.length);
    // A spoiled run is seen to by whoever reads it.
    if (text !== undefined) this.#write(kind, encoding, { ...run, text });
    return run.last;
  }

  /**
   * Removes what has changed of the run that ends at `last`, and all of it if there is no such run any
   * more. Returns whether it removed something.
   */
  repair(last: Seq): boolean {
    let removed = false;
    for (const kind of KINDS) {
      const isRun = this.#run.get(kind, last) !== undefined;
      for (const encoding of STORED_ENCODINGS) {
        const encoded = this.#encoded.get(kind, encoding, last) as EncodedRun | undefined;
        if (encoded === undefined) continue;
        const bytes = encodedBytes(this.#paths, encoded);
        if (isRun && runHolds(bytes)) continue;
        eraseRun(bytes);
        this.#remove.run(kind, encoding, last, last);
        removed = true;
      }
    }
    return removed;
  }

  /** Erases a run in all encodings, and what was left behind the runs of its kind. */
  erase(kind: Kind, last: Seq): void {
    for (const encoding of STORED_ENCODINGS) {
      const encoded = this.#encoded.get(kind, encoding, last) as EncodedRun | undefined;
      if (encoded !== undefined) eraseRun(encodedBytes(this.#paths, encoded));
      this.#remove.run(kind, encoding, last, last);
      const file = runsFile(this.#paths, kind, encoding);
      const end = this.#endOf(kind, encoding);
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > end) truncateSync(file, end);
    }
  }

  /** Forgets a file that is too short. */
  #check(kind: Kind, encoding: StoredEncoding): void {
    const file = runsFile(this.#paths, kind, encoding);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#endOf(kind, encoding))
      this.#remove.run(kind, encoding, 0, Number.MAX_SAFE_INTEGER);
  }

  #endOf(kind: Kind, encoding: StoredEncoding): number {
    return this.#index.prepare(END).get(kind, encoding)?.['at'] as number;
  }

  /** The file is flushed before the row is written. */
  #write(
    kind: Kind,
    encoding: StoredEncoding,
    { first, last, text }: Pick<Run, 'first' | 'last'> & { readonly text: Uint8Array },
  ): void {
    const bytes = Buffer.concat([ENCODED_JOINERS[encoding], ENCODERS[encoding](text)]);
    const position = this.#endOf(kind, encoding);
    const file = openSync(runsFile(this.#paths, kind, encoding), 'a');
    try {
      // Removes what a crash or a full disk has left behind the end.
      ftruncateSync(file, position);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    const size = text.length;
    const { length } = bytes;
    const crc = crc32(text);
    const joinedCrc = crc32(text, crc32(RUN_JOINER));
    const run = { kind, encoding, first, last, position, length, size, crc, joinedCrc, sum: 0 };
    const sum = sumOf(encodedBytes(this.#paths, run), bytes);
    this.#put.run(...Object.values({ ...run, sum }));
  }
}
