/**
 * Format 1 of the log, as version 0.2 has it. It has no index of keys, and further facets of a large entry are in
 * files beside its body, `NAME.FILTER`.
 *
 * Invariant: A folder of format 1 is converted in one step, and has every entry, key and case that it had.
 * Test: `test/log-format/format-1.test.ts` “a folder of format 1 is converted, wherever it
 *   is killed”
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { FILTER_NAMES } from '@open-presence/protocol';

import { FACET_SIZE } from '../../log/facet.ts';
import type { Seq, WithholdingState } from '../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable, removeDatabase, transact } from '../database.ts';
import { finalPath } from '../large/large-files.ts';
import { flushFolder } from '../prepare-folder.ts';
import { hasStreamMessages, StreamMessages } from '../replica/stream-messages.ts';
import { type Cases, listCases, WITHHELD_TABLE } from '../withholding/withheld-table.ts';
import { flagsOf, KEYS_INDEX, sumOf } from './entry-row.ts';
import { RowReader } from './row-reader.ts';

/** What a filter may have in a row now (see `intake/facet-list.ts`), without the 64 that it had there. */
const FURTHER_SIZE = (25_000 - 64) * FACET_SIZE;
const FACETS_FILE = /[\da-f-]{36}\.\w+$/;

/** In one transaction. What is not erased yet, the writer's thread goes on with. */
export function convertFormat1(db: DatabaseSync, paths: DataPaths): void {
  // A backup has no such folder: it shows a start after a kill that files are left.
  mkdirSync(segmentsIn(paths), { recursive: true });
  flushFolder(paths.folder);
  transact(db, () => {
    db.exec(`${WITHHELD_TABLE}; ${KEYS_INDEX}; PRAGMA user_version = 2;
      DROP INDEX IF EXISTS unfinished; DROP TABLE IF EXISTS withheld_ranges`);
    listDecided(db);
    moveFacets(db, paths);
  });
}

/**
 * Lists what was decided to be withheld and not listed yet. A hidden or shown entry is so by its case alone now: marks
 * in rows do no harm.
 */
function listDecided(db: DatabaseSync): void {
  const messages = hasStreamMessages(db) ? new StreamMessages(db) : undefined;
  const remove = "DELETE FROM meta WHERE name GLOB 'withholding-*' RETURNING value";
  for (const { value } of db.prepare(remove).all())
    for (const item of JSON.parse(String(value)) as readonly DecidedItem[]) {
      listCases(db, { state: 'withheld', ...item, seqs: [item.seq], digests: [item.digest] });
      if ((item.state ?? 'withheld') === 'withheld') messages?.withheld(item.seq);
    }
  db.exec('UPDATE withheld SET isErased = isErased | 1 WHERE isErased IN (2, 4)');
}

interface DecidedItem extends Omit<Cases, 'state' | 'seqs' | 'digests'> {
  readonly seq: Seq;
  readonly state?: WithholdingState;
  readonly digest: string;
}

/** From the files of large entries to their rows. */
function moveFacets(db: DatabaseSync, paths: DataPaths): void {
  const log = new RowReader(db);
  const update = db.prepare('UPDATE entries SET flags = ?, facets = ?, sum = ? WHERE seq = ?');
  const clear = db.prepare("UPDATE large SET facets = '' WHERE seq = ?");
  for (const { seq } of db.prepare("SELECT seq FROM large WHERE facets <> ''").all()) {
    const row = readable(() => log.stored(Number(seq)));
    if (row?.file === undefined) continue;
    const { file, portability, storedFacets } = row;
    const large = { ...file, facets: '' };
    // What an entry answers, and its thread, stand at the end.
    const facets = Buffer.concat([...furtherFacets(paths, file.name), storedFacets]);
    const flags = flagsOf({ large, portability });
    update.run(flags, facets, sumOf(flags, facets, large), Number(seq));
    clear.run(Number(seq));
  }
}

function furtherFacets(paths: DataPaths, name: string): Buffer[] {
  const files = FILTER_NAMES.map((filter) => `${finalPath(paths, name)}.${filter}`);
  const found = files.filter((file) => existsSync(file)).map((file) => readFileSync(file));
  return found.map((facets) => facets.subarray(0, FURTHER_SIZE));
}

/** Removes the files that only format 1 has. The last to go shows that some are left. */
export function removeFormat1(paths: DataPaths): void {
  const { folder, large } = paths;
  if (!existsSync(segmentsIn(paths))) return;
  for (const path of existsSync(large) ? readdirSync(large, { recursive: true }) : [])
    if (FACETS_FILE.test(String(path))) rmSync(join(large, String(path)));
  removeDatabase(join(folder, 'keys.sqlite'));
  rmSync(segmentsIn(paths), { recursive: true });
}

function segmentsIn({ folder }: DataPaths): string {
  return join(folder, 'segments');
}
