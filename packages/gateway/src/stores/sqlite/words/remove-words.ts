/** Removes entries from the full-text index, while the log can still say what they said. */
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import type { BlockReader } from '../log/block-reader.ts';
import { largeChunksSync } from '../log/large-files.ts';
import { EntryWords, LargeRowWriter, writeLargeRows } from './entry-words.ts';
import { largeRowId } from './fts.ts';
import { PartReader } from './parts.ts';

// FTS5 rewrites the pages that have the words, in place of noting that the row was deleted.
const REMOVE_AT_ONCE = "INSERT INTO texts (texts, rank) VALUES ('secure-delete', 1)";
const REMOVE = "INSERT INTO texts (texts, rowid, words) VALUES ('delete', ?, ?)";
const EXISTS = 'SELECT 1 FROM texts_docsize WHERE id = ?';

/**
 * Within the caller's transaction. Leaves out entries that the index does not have. Returns how many rows
 * were removed. Throws `SpoiledEntry` where one cannot be read any more.
 */
export async function removeWords(
  index: DatabaseSync,
  { paths, blocks }: { readonly paths: DataPaths; readonly blocks: BlockReader },
  seqs: readonly Seq[],
  signal: AbortSignal,
): Promise<number> {
  index.exec(REMOVE_AT_ONCE);
  const [exists, remove] = [index.prepare(EXISTS), index.prepare(REMOVE)];
  remove.setReadBigInts(true);
  const parts = new PartReader(index);
  const words = new EntryWords();
  let count = 0;
  const removeRow = (rowId: bigint, wordsWith: (prefix: string) => string | Uint8Array): void => {
    if (exists.get(rowId) === undefined) return;
    remove.run(rowId, wordsWith(parts.prefixOf(rowId)));
    count += 1;
  };
  for (const seq of seqs) {
    signal.throwIfAborted();
    const stored = blocks.unerased(seq);
    if (stored === undefined) continue;
    const { large } = stored;
    if (large === undefined) removeRow(BigInt(seq), (prefix) => words.read(stored, prefix));
    else {
      const row = new LargeRowWriter(
        (part) => parts.prefixOf(largeRowId(seq, part)),
        (part, text) => removeRow(largeRowId(seq, part), () => text),
      );
      await writeLargeRows(row, largeChunksSync(paths, large), signal);
    }
  }
  return count;
}
