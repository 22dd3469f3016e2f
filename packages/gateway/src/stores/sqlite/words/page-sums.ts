/**
 * Checksums of the pages of `search.sqlite`, which SQLite itself does not have: four bytes for each,
 * in a file beside it. They find what has changed on the disk since it was written, also where it has
 * kept its form.
 *
 * Pages are written by checkpoints only, and by this class alone, which stores their checksums before
 * the next commit overwrites the WAL. What a crash leaves between the two is still in the WAL.
 */
import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

import { isStorageFault, StorageFault } from '../../../storage-fault.ts';
import { SUMS_SUFFIX } from '../database.ts';
import { PAGE_SIZE, walFrames } from './wal-frames.ts';
import { SpoiledWords } from './words-database.ts';

const SUM_SIZE = 4;
/** A checkpoint is due when the WAL has so many pages, as SQLite's own would be. */
const MAX_WAL_FRAMES = 1000;
/** Pages that are compared at once. */
const SLICE = 64;
/** Where the first page has the number of pages (SQLite's file format, section 1.3). */
const PAGE_COUNT = 28;
const PAGE_COUNT_SIZE = 4;

/** A checkpoint and its checksums may be written between two reads. */
const MAX_TRIES = 3;

export class PageSums {
  readonly #db: DatabaseSync;
  readonly #file: string;
  /** Closed after the database only: closing a file releases SQLite's locks on it, by POSIX. */
  readonly #pages: number;
  readonly #sums: number;
  /** Whether the last checkpoint was complete, and has its checksums. */
  #isCurrent = false;

  /** `db`: the only connection that writes to the database. */
  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file;
    db.exec('PRAGMA wal_autocheckpoint = 0');
    this.#pages = openSync(file, 'r');
    try {
      this.#sums = openSync(file + SUMS_SUFFIX, constants.O_RDWR | constants.O_CREAT);
    } catch (error) {
      closeSync(this.#pages);
      throw error;
    }
  }

  /** Call after each commit. Writes a checkpoint if one is due. */
  committed(): void {
    if (this.#walFrames('NOOP').log >= MAX_WAL_FRAMES) this.#checkpoint();
  }

  /** Leaves nothing in the WAL. Throws a `StorageFault` where another connection holds it. */
  truncateWal(): void {
    this.#checkpoint();
    const busy = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
    if (!this.#isCurrent || busy !== 0)
      throw new StorageFault('The WAL of search.sqlite is being read.');
  }

  /** Compares all pages, some in each step. Throws a `SpoiledWords` for one that has changed. */
  *check(): Generator<void, void, undefined> {
    if (!this.#isCurrent) this.#checkpoint();
    for (let page = 1, size = SLICE; size === SLICE; page += size) {
      if (!this.#isCurrent) return;
      const compared = comparePages(this.#pages, this.#sums, page);
      ({ size } = compared);
      if (compared.changed !== undefined)
        throw new SpoiledWords(`page ${compared.changed} of search.sqlite has changed`);
      yield;
    }
  }

  /** Closes the database too. */
  close(): void {
    try {
      this.#checkpoint();
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // Closing the database writes a checkpoint too, whose checksums would be missing.
      rmSync(this.#file + SUMS_SUFFIX, { force: true });
    } finally {
      this.#db.close();
      closeSync(this.#pages);
      closeSync(this.#sums);
    }
  }

  #checkpoint(): void {
    this.#isCurrent = false;
    const { log, checkpointed } = this.#walFrames('PASSIVE');
    // Another process reads an older state, or writes a checkpoint itself: then both are -1.
    if (log < 0 || checkpointed < log) return;
    const sum = Buffer.alloc(SUM_SIZE);
    for (const { page, bytes } of walFrames(`${this.#file}-wal`, log)) {
      sum.writeUInt32LE(pageSum(page, bytes));
      writeSync(this.#sums, sum, 0, SUM_SIZE, (page - 1) * SUM_SIZE);
    }
    if (log > 0) fdatasyncSync(this.#sums);
    this.#isCurrent = true;
  }

  #walFrames(mode: 'NOOP' | 'PASSIVE'): { readonly log: number; readonly checkpointed: number } {
    const row = this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    return { log: Number(row?.['log']), checkpointed: Number(row?.['checkpointed']) };
  }
}

interface Comparison {
  /** Pages that were compared: fewer than `SLICE` at the end of the file. */
  readonly size: number;
  /** The first that has changed, or is missing. */
  readonly changed: number | undefined;
}

function comparePages(pages: number, sums: number, first: number): Comparison {
  const bytes = Buffer.alloc(SLICE * PAGE_SIZE);
  const stored = Buffer.alloc(SLICE * SUM_SIZE);
  const length = readSync(pages, bytes, 0, bytes.length, (first - 1) * PAGE_SIZE);
  readSync(sums, stored, 0, stored.length, (first - 1) * SUM_SIZE);
  const size = Math.floor(length / PAGE_SIZE);
  const holds = (at: number): boolean => {
    const sum = stored.readUInt32LE(at * SUM_SIZE);
    // Without a checksum, nothing is known of the page.
    return (
      sum === 0 || sum === pageSum(first + at, bytes.subarray(at * PAGE_SIZE, (at + 1) * PAGE_SIZE))
    );
  };
  const pageCount = Buffer.alloc(PAGE_COUNT_SIZE);
  readSync(pages, pageCount, 0, PAGE_COUNT_SIZE, PAGE_COUNT);
  const expected = Math.min(SLICE, pageCount.readUInt32BE() + 1 - first);
  for (let at = 0; at < Math.max(size, expected); at += 1)
    if (at >= size || !holds(at)) return { size, changed: first + at };
  return { size, changed: undefined };
}

function pageSum(page: number, bytes: Uint8Array): number {
  return crc32(bytes, page) || 1;
}

/**
 * Yields the first page of the database that has changed, and undefined after each slice that has
 * not. Another process may be writing to it: a page that differs is compared again by the next step,
 * and not counted while it is in the WAL, which has its newest content.
 */
export function* changedPages(file: string): Generator<number | undefined, void, undefined> {
  if (!existsSync(file + SUMS_SUFFIX)) return;
  const pages = openSync(file, 'r');
  const sums = openSync(file + SUMS_SUFFIX, 'r');
  try {
    for (let first = 1, tries = 0; ;) {
      const { size, changed } = comparePages(pages, sums, first);
      if (changed === undefined || isInWal(`${file}-wal`, changed)) {
        if (changed === undefined && size < SLICE) return;
        first = changed === undefined ? first + size : changed + 1;
        tries = 0;
        yield undefined;
      } else if (tries < MAX_TRIES) {
        tries += 1;
        yield undefined;
      } else {
        yield changed;
        return;
      }
    }
  } finally {
    closeSync(pages);
    closeSync(sums);
  }
}

function isInWal(wal: string, page: number): boolean {
  if (!existsSync(wal)) return false;
  return walFrames(wal).some((frame) => frame.page === page);
}
