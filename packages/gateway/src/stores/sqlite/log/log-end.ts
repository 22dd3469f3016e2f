/** What a start has to know of a log before it is brought forward: of this format, or of an older one. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { readPragma } from '../database.ts';
import { BlockReader } from './block-reader.ts';
import { FIRST_FORMAT_OF_BLOCKS } from './log-database.ts';

export interface LogEnd {
  /** The seq of the newest entry; 0 if there is none. */
  lastSeq(): Seq;
  /** In hex; undefined without the entry. Throws where it cannot be read. */
  linkAt(seq: Seq): string | undefined;
  newestTime(): number | undefined;
  /** Whether an entry has this file. */
  hasLarge(name: string): boolean;
}

export function endOfLog(db: DatabaseSync): LogEnd {
  return readPragma(db, 'user_version') < FIRST_FORMAT_OF_BLOCKS
    ? endOfOlderLog(db)
    : endOfBlocks(db);
}

function endOfBlocks(db: DatabaseSync): LogEnd {
  const log = new BlockReader(db);
  const large = db.prepare('SELECT 1 FROM large WHERE name = ?');
  return {
    lastSeq: () => log.lastSeq(),
    linkAt: (seq) => log.linkAt(seq),
    newestTime: () => log.last()?.time,
    hasLarge: (name) => large.get(name) !== undefined,
  };
}

function endOfOlderLog(db: DatabaseSync): LogEnd {
  const last = db.prepare('SELECT seq, time FROM entries ORDER BY seq DESC LIMIT 1');
  const link = db.prepare('SELECT lower(hex(link)) AS link FROM entries WHERE seq = ?');
  const large = db.prepare('SELECT 1 FROM entries WHERE large = ?');
  return {
    lastSeq: () => Number(last.get()?.['seq'] ?? 0),
    linkAt: (seq) => link.get(seq)?.['link']?.toString(),
    newestTime: () => last.get()?.['time'] as number | undefined,
    hasLarge: (name) => large.get(name) !== undefined,
  };
}
