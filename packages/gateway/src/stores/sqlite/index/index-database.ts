/** The format of `index.sqlite`: posting lists, runs, and the number of entries of each room. */
import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../../../storage-fault.ts';
import { type OnSpoiled, openDerived, readMetaSeq, removeDatabase } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { talliesHold } from './room-counter.ts';
import { hasAllRuns } from './runs-writer.ts';

export const INDEX_FORMAT = 5;

const TABLES = `
  -- The seqs of a facet within one part of the log: 16-bit little-endian offsets, ascending.
  -- sum: CRC-32 of the row.
  CREATE TABLE postings (
    part INTEGER NOT NULL,
    facet BLOB NOT NULL,
    first INTEGER NOT NULL,
    seqs BLOB NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (part, facet, first)
  ) WITHOUT ROWID, STRICT;
  -- The sums of all postings of a part, combined by XOR: they tell where a row is missing.
  CREATE TABLE parts (part INTEGER PRIMARY KEY, sums INTEGER NOT NULL) STRICT;
  -- sum: CRC-32 of the row and of the bytes in the file.
  CREATE TABLE runs (
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    position INTEGER NOT NULL,
    length INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (kind, last)
  ) WITHOUT ROWID, STRICT;
  -- Runs as readers ask for them compressed. size, crc: of the text; joinedCrc: with a joiner before it.
  CREATE TABLE encoded_runs (
    kind TEXT NOT NULL,
    encoding TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    position INTEGER NOT NULL,
    length INTEGER NOT NULL,
    size INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    joinedCrc INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    PRIMARY KEY (kind, encoding, last)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE tallies (
    room TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (room, kind)
  ) WITHOUT ROWID, STRICT;
`;

/** Opens the index of this log; an empty one where there is none that can be used. */
export function openIndex(
  paths: DataPaths,
  logId: string,
  head: number,
  onSpoiled: OnSpoiled,
): DatabaseSync {
  return openDerived({
    file: paths.index,
    files: [paths.runs],
    cacheKiB: 4096,
    format: INDEX_FORMAT,
    tables: TABLES,
    logId,
    check(db) {
      if (readMetaSeq(db, 'indexed') > head) throw new StorageFault('it is ahead of the log');
      if (!hasAllRuns(db, paths)) throw new StorageFault('files in runs/ are missing or too short');
      if (!talliesHold(db)) throw new StorageFault('its counts of entries have changed');
    },
    isDamage: () => true,
    onSpoiled,
  });
}

export function removeIndex(paths: DataPaths): void {
  rmSync(paths.runs, { recursive: true, force: true });
  removeDatabase(paths.index);
}
