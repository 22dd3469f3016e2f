/**
 * Makes a backup of a log, beside a gateway that may be running: a data folder with everything that was acknowledged
 * when the backup began, and nothing of what was withheld before it ended. The log is copied as a whole to
 * `log.sqlite.new`, which then takes the place of the earlier one: whatever interrupts, the folder has one of the
 * two. Large files are copied once.
 *
 * Verifies nothing: `verifyLog` does, in any folder.
 *
 * Invariant: A backup has every entry that was acknowledged before it began, and one that is interrupted
 *   leaves the one before.
 * Test: `test/backup/kill.test.ts` “backups during kills under load have what was acknowledged before
 *   they began” “a backup that fills its disk leaves the one before”
 * Test: `test/backup/withheld.test.ts` “has nothing of what they said, and restores to a log that
 *   says when and why”
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../log/log.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readMeta, removeDatabase, transact } from '../database.ts';
import { finalPath, removeUnused, removeUpload } from '../large/large-files.ts';
import { lockFile } from '../lock-file.ts';
import { isLargeName } from '../log/entry-row.ts';
import { openLogForReading, openLogIfExists, rollBackJournal } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { rowEraser } from '../log/row-writer.ts';
import type { VerifyEvent } from '../log/verify.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { readWithholdings } from '../withholding/withholding-reader.ts';
import {
  lastWithheld,
  listCases,
  setErased,
  unerased,
  withheldLookup,
} from '../withholding/withheld-table.ts';
import { assertPlain, copyFlushed, flushFile } from './copy-file.ts';
import { type BackupDescription, describe, readMade } from './description.ts';

export interface BackupReport extends BackupDescription {
  readonly folder: string;
  /** Bytes of large files that the backup before did not have. */
  readonly copied: number;
  /** Large entries whose file is lost. */
  readonly faults: number;
}

/** Yields faults and progress. Throws where there is no log, or the folder is anything but a backup of it. */
export async function* backUpLog(
  data: string,
  folder: string,
): AsyncGenerator<VerifyEvent, BackupReport, undefined> {
  const [source, target] = [dataPathsIn(resolve(data)), dataPathsIn(resolve(folder))];
  using log = openLogForReading(source);
  makeFolder(target.folder);
  if (realpathSync(target.folder) === realpathSync(source.folder))
    throw new Error(`"${folder}" is the data folder itself: a backup needs a folder of its own.`);
  using _lock = lockFile(target.lock, `Another backup, or a gateway, is using "${folder}".`);
  assertPlainFolders(target);
  refuseOther(target, log);
  const made = Date.now();
  const copy = { ...target, log: `${target.log}.new` };
  removeDatabase(copy.log);
  try {
    log.prepare('VACUUM INTO ?').run(copy.log);
    const report = yield* complete(copy, { db: log, paths: source }, made);
    await flushFile(copy.log);
    await rename(copy.log, target.log);
    await rm(target.backup, { force: true });
    flushFolder(target.folder);
    using db = openLogForReading(target);
    const rows = new RowReader(db);
    removeUnused(target, (name) => rows.hasLarge(name));
    await copyNotices(source, target);
    noteTime(source, report.made);
    return report;
  } finally {
    removeDatabase(copy.log);
  }
}

function assertPlainFolders({ large }: DataPaths): void {
  mkdirSync(large, { recursive: true });
  assertPlain(large, 'folder');
  for (const name of readdirSync(large)) assertPlain(join(large, name), 'folder');
}

/** Throws where the folder has a log that the new one may not replace. */
function refuseOther(target: DataPaths, source: DatabaseSync): void {
  if (existsSync(target.log)) assertPlain(target.log, 'file');
  rollBackJournal(target);
  using db = openLogIfExists(target);
  if (db === undefined) return;
  const { folder } = target;
  if (readMade(db, target) === undefined)
    throw new Error(
      `"${folder}" has a log that is no backup, such as one that a gateway was started on. Choose another folder.`,
    );
  const [own, log] = [String(readMeta(db, 'name')), String(readMeta(source, 'name'))];
  if (own !== log)
    throw new Error(
      `"${folder}" is a backup of the log ${own}, and this one is ${log}. Choose another folder.`,
    );
  const [backup, rows] = [new RowReader(db), new RowReader(source)];
  const [seq, head] = [backup.lastSeq(), rows.lastSeq()];
  if (backup.linkAt(seq) === rows.linkAt(seq)) return;
  const end = seq > head ? `, which ends with entry ${head}` : '';
  throw new Error(
    `"${folder}" has another entry ${seq} than the log has${end}. Keep it, since it may have what the log has lost, and choose another folder.`,
  );
}

interface Source {
  readonly db: DatabaseSync;
  readonly paths: DataPaths;
}

/** Adds the large files, takes away what was withheld meanwhile, and makes the copy a backup. */
async function* complete(
  paths: DataPaths,
  source: Source,
  made: number,
): AsyncGenerator<VerifyEvent, BackupReport> {
  using db = new DatabaseSync(paths.log);
  // Where this is interrupted, the copy is removed.
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON');
  const head = new RowReader(db).lastSeq();
  const progress = (at: Seq): VerifyEvent => ({
    type: 'progress',
    entries: at,
    bytes: 0,
    at,
    head,
  });
  yield progress(0);
  let copied = 0;
  const lost: Seq[] = [];
  for (const row of db.prepare('SELECT seq, name, size FROM large').iterate()) {
    const seq = Number(row['seq']);
    const bytes = await copyLarge(String(row['name']), Number(row['size']), [source.paths, paths]);
    if (bytes === undefined) lost.push(seq);
    else copied += bytes;
    yield progress(seq);
  }
  for (const name of readdirSync(paths.large)) flushFolder(join(paths.large, name));
  flushFolder(paths.large);
  // That takes long: what follows is little, so that nearly nothing is withheld after it.
  await flushFile(paths.log);
  await withholdSince(db, source.db, paths);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('backup', ?)").run(made);
  const isLarge = db.prepare('SELECT 1 FROM large WHERE seq = ?');
  const faults = lost.filter((seq) => isLarge.get(seq) !== undefined);
  for (const seq of faults) yield { type: 'fault', seq, description: 'has lost its file' };
  return { ...describe(db, made), folder: paths.folder, copied, faults: faults.length };
}

/** Returns the bytes that were copied; undefined where the file is lost. */
async function copyLarge(
  name: string,
  size: number,
  [source, target]: readonly [DataPaths, DataPaths],
): Promise<number | undefined> {
  // A name that has changed may lead out of the folder.
  if (!isLargeName(name)) return undefined;
  const [from, to] = [finalPath(source, name), finalPath(target, name)];
  const there = lstatSync(to, { throwIfNoEntry: false });
  if (there?.isFile() === true && there.size === size) return 0;
  await mkdir(dirname(to), { recursive: true });
  return await copyIfThere(from, to);
}

/** Undefined where the file is gone. */
async function copyIfThere(from: string, to: string): Promise<number | undefined> {
  try {
    return await copyFlushed(from, to);
  } catch (error) {
    if (existsSync(from)) throw error;
    return undefined;
  }
}

/** Takes over the cases that are new since the copy was made, and erases what is withheld. */
async function withholdSince(
  copy: DatabaseSync,
  source: DatabaseSync,
  paths: DataPaths,
): Promise<void> {
  const rows = new RowReader(copy);
  const range = { order: 'oldest', after: lastWithheld(copy) } as const;
  const read = readWithholdings(source, new RowReader(source), range, Infinity);
  const cases = await Array.fromAsync(read);
  const lookup = withheldLookup(source);
  const find = copy.prepare('SELECT name FROM large WHERE seq = ?');
  const erase = rowEraser(copy, rows);
  transact(copy, () => {
    for (const { metadata, ...one } of cases) {
      const { seq } = metadata;
      const digest = Buffer.from(lookup(seq)?.digest ?? '').toString('hex');
      listCases(copy, { ...one, seqs: [seq], digests: [digest] });
    }
    for (const { seq } of unerased(copy)) {
      const name = find.get(seq)?.['name'];
      if (isLargeName(String(name))) removeUpload(paths, String(name));
      erase(seq);
    }
    setErased(copy, lastWithheld(copy));
  });
}

/** Copies the notices that the backup lacks, and removes those that the folder has no more. */
async function copyNotices(source: DataPaths, target: DataPaths): Promise<void> {
  if (!existsSync(source.notices)) return;
  await mkdir(target.notices, { recursive: true, mode: 0o700 });
  assertPlain(target.notices, 'folder');
  for (const name of await readdir(source.notices)) {
    const [from, to] = [join(source.notices, name), join(target.notices, name)];
    // What was sent does not change; why it was closed may.
    if (name.endsWith('.closed') || (name.endsWith('.json') && !existsSync(to)))
      await copyIfThere(from, to);
  }
  for (const name of await readdir(target.notices))
    if (!existsSync(join(source.notices, name))) await rm(join(target.notices, name));
  flushFolder(target.notices);
}

/** Tells the gateway of the folder when the newest backup was begun. */
function noteTime({ lastBackup }: DataPaths, made: string): void {
  try {
    writeFileSync(lastBackup, made);
  } catch (error) {
    // Who may only read the folder can make backups.
    assertStorageFault(error);
  }
}
