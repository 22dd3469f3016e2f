/** Erases what a visitor said from the row of an entry, within the caller's transaction. */
import type { DatabaseSync } from 'node:sqlite';

import { facet } from '../../../log/facet.ts';
import type { Seq } from '../../../log/log.ts';
import { readable } from '../database.ts';
import type { RowReader } from '../log/row-reader.ts';
import { flagsOf, sumOf } from '../log/entry-row.ts';

// SQLite overwrites the row: what it puts there has the same size.
const ERASE = `UPDATE entries SET flags = ?, salt = zeroblob(16), facets = ?, sum = ?, text = ?
  WHERE seq = ?`;
// All of it, since it is unknown what the columns of the row have. It has no form afterwards either.
const ERASE_SPOILED = `UPDATE entries SET time = 0, kind = 0, room = '', flags = ?, link = x'',
  salt = x'', key = NULL, facets = zeroblob(ifnull(octet_length(facets), 0)), sum = x'',
  text = zeroblob(ifnull(octet_length(text), 0)) WHERE seq = ?`;

const WITHHELD_FLAGS = flagsOf({ large: undefined, marked: false, isWithheld: true });
const BRACE = Buffer.from('}');

export function rowEraser(db: DatabaseSync, log: RowReader): (seq: Seq) => void {
  const erase = db.prepare(ERASE);
  const eraseSpoiled = db.prepare(ERASE_SPOILED);
  const removeFile = db.prepare('DELETE FROM large WHERE seq = ?');
  return (seq) => {
    const stored = readable(() => log.stored(seq));
    removeFile.run(seq);
    if (stored === undefined) {
      eraseSpoiled.run(WITHHELD_FLAGS, seq);
      return;
    }
    const { kind, room, head } = stored;
    const own = Buffer.concat([facet('kind', kind), facet('room', room)]);
    const facets = resized(own, stored.facets.length);
    const text = resized(Buffer.concat([stored.text.subarray(0, head), BRACE]), stored.text.length);
    const sum = sumOf(WITHHELD_FLAGS, facets, undefined);
    erase.run(WITHHELD_FLAGS, facets, sum, text, seq);
  };
}

function resized(bytes: Buffer, size: number): Buffer {
  return Buffer.concat([bytes], size);
}
