/** Reads the log of a folder without a store, beside a gateway that may run. SQLite may leave empty WAL files. */
import type { ChainRange, Seq, TextRead, Withholding } from '../log/log.ts';
import { readable, readMeta } from './database.ts';
import { dataPathsIn } from './data-paths.ts';
import { metadataOf } from './log/entry-row.ts';
import { RowReader } from './log/row-reader.ts';
import { ChainReader } from './log/chain-reader.ts';
import { EntryReader } from './log/entry-reader.ts';
import { openLogForReading } from './log/log-database.ts';
import { readWithholdings } from './withholding/withholding-reader.ts';

export interface FolderLog extends Disposable {
  readonly name: string;
  /** The newest entry when the log was opened. */
  readonly head: Seq;
  /** In hex; zeros for 0. */
  linkAt(seq: Seq): string;
  /** See `Log.readChain`. */
  readChain(range: ChainRange): TextRead;
  /** Every case, the oldest first. See `Log.withholdings`. */
  withholdings(): AsyncIterable<Withholding>;
  /** An entry's id, and whether it is withheld or hidden; undefined if there is none that can be read. */
  stateOf(seq: Seq): EntryState | undefined;
}

interface EntryState {
  readonly id: string;
  readonly state: Withholding['state'];
}

/** Throws when the folder has no log that this program can read. */
export function openFolderLog(folder: string): FolderLog {
  const paths = dataPathsIn(folder);
  const db = openLogForReading(paths);
  const rows = new RowReader(db);
  const chain = new ChainReader(rows, new EntryReader(rows, paths));
  const head = rows.lastSeq();
  return {
    name: String(readMeta(db, 'name')),
    head,
    linkAt: (seq) => chain.linkAt(seq),
    readChain: (range) => chain.read(range, head),
    withholdings: () => readWithholdings(db, rows, { order: 'oldest' }, Infinity),
    stateOf(seq) {
      const row = readable(() => rows.entry(seq));
      return row && { id: metadataOf(row).id, state: row.withheld?.state ?? 'shown' };
    },
    [Symbol.dispose]: () => db.close(),
  };
}
