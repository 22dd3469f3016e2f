/**
 * The format of `search.sqlite`: a contentless FTS5 table, which has the words of all string values
 * and their positions, but not the texts; and the parts that it is divided into.
 */
import type { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../../../storage-fault.ts';
import { type OnSpoiled, openDerived, readMetaSeq } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { PART_TABLE } from './parts.ts';

/** Must change with the tables, with the tokenizer, and with which values are searched. */
export const WORDS_FORMAT = 5;

// `ascii` splits at spaces, and leaves the words of our own tokenizer and the prefixes of parts as
// they are.
const TABLES = `
  CREATE VIRTUAL TABLE texts USING fts5(
    words, content='', contentless_delete=0, detail=full, tokenize="ascii tokenchars '.:'");
  -- Merges few segments while entries come, in steps, and never all of a level in one transaction.
  -- WordIndexer.merge() merges more when there is time.
  INSERT INTO texts (texts, rank) VALUES ('automerge', 16), ('crisismerge', 256);
  ${PART_TABLE}
`;

const SQLITE_CORRUPT_VTAB = 267;
/**
 * SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB. All statements are ours: the first says that a table has
 * another form, such as FTS5's own ones where the end of the file is gone.
 */
const CORRUPT: ReadonlySet<unknown> = new Set([1, 11, 26, SQLITE_CORRUPT_VTAB]);

/**
 * Opens the full-text index of this log; an empty one where there is none that can be used. Throws
 * on other errors, such as too many open files: the index may be intact.
 */
export function openWords(
  paths: DataPaths,
  logId: string,
  head: number,
  onSpoiled: OnSpoiled,
): DatabaseSync {
  return openDerived({
    file: paths.search,
    files: [],
    cacheKiB: 2048,
    format: WORDS_FORMAT,
    tables: TABLES,
    logId,
    check(db) {
      if (readMetaSeq(db, 'searched') > head) throw new StorageFault('it is ahead of the log');
    },
    isDamage: isCorrupt,
    onSpoiled,
  });
}

/** A checksum says that the file has changed. */
export class SpoiledWords extends StorageFault {}

/** Whether the error says that the file is damaged, or not a database. */
export function isCorrupt(error: unknown): boolean {
  return error instanceof SpoiledWords || CORRUPT.has(errorCode(error));
}

/** Whether the error says that the FTS5 tables are damaged. */
export function isCorruptTable(error: unknown): boolean {
  return errorCode(error) === SQLITE_CORRUPT_VTAB;
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'errcode' in error ? error.errcode : undefined;
}
