/** Makes the log of a backup: its entries, what finds them by keys and files, and its name. */
import { constants } from 'node:fs';
import { copyFile, mkdir, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import type { Block } from '../log/blocks.ts';
import { KeyBuckets } from '../log/key-buckets.ts';
import { keyIn } from '../log/key-column.ts';
import { createLog, LOG_FORMAT } from '../log/log-database.ts';
import { finalPath } from '../log/large-files.ts';
import type { EntryRow } from '../log/record.ts';
import type { VerifyEvent } from '../log/verify.ts';
import { numberAllWithheld } from '../log/withheld-table.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { BackupPaths } from './backup-folder.ts';
import type { Manifest, Segment } from './manifest.ts';
import { readBlocks } from './segment-blocks.ts';
import { lookupIn, readWithholdings, type SegmentWithholding } from './segment-withholdings.ts';
import { segmentFiles } from './segment-files.ts';
import { restoreStreamState, type StreamState, verifyStreamState } from './stream-state.ts';
import { blocksFile, withheldFile } from './write-segments.ts';

interface MakeLogTask {
  readonly backups: BackupPaths;
  readonly manifest: Manifest;
  /** Without it, the log gets a new random one. */
  readonly keepName: boolean;
  /** Of a log that is to go on as a copy of a cluster's. */
  readonly stream: StreamState | undefined;
}

/** Resolves when everything is flushed. */
export async function* makeLog(
  paths: DataPaths,
  { backups, manifest, keepName, stream }: MakeLogTask,
): AsyncGenerator<VerifyEvent, void> {
  if (manifest.format !== LOG_FORMAT)
    throw new Error(
      `it has format ${manifest.format}, and this program writes ${LOG_FORMAT}: restore it with the version that made it`,
    );
  if (stream !== undefined) await verifyStreamState(backups, stream);
  await mkdir(paths.incoming, { recursive: true });
  {
    using db = new DatabaseSync(paths.log);
    // Flushed as a whole below.
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -131072');
    db.exec('PRAGMA secure_delete = FAST');
    createLog(db);
    if (keepName) db.prepare("UPDATE meta SET value = ? WHERE name = 'name'").run(manifest.log);
    const writer = new LogWriter(db);
    const progress = { entries: 0, bytes: 0, at: 0, head: manifest.head };
    for (const segment of manifest.segments) {
      const files = segmentFiles(backups, segment);
      const withholdings = readWithholdings(withheldFile(backups, segment));
      const blocks = await readBlocks(blocksFile(backups, segment), lookupIn(withholdings));
      writer.write(blocks, withholdings);
      await copyLargeFiles(files, paths);
      addTo(progress, segment);
      yield { type: 'progress', ...progress };
    }
    if (stream === undefined) numberAllWithheld(db);
    else restoreStreamState(backups, stream, db);
    db.exec('PRAGMA journal_mode = WAL');
  }
  await using handle = await open(paths.log, 'r+');
  await handle.sync();
  for (const folder of [paths.incoming, paths.large, paths.folder]) flushFolder(folder);
}

function addTo(
  progress: { entries: number; bytes: number; at: number },
  { entries, bytes, to }: Segment,
): void {
  progress.entries += entries;
  progress.bytes += bytes;
  progress.at = to;
}

class LogWriter {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #insertLarge: StatementSync;
  readonly #insertWithheld: StatementSync;
  readonly #keys: KeyBuckets;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#insert = db.prepare('INSERT OR IGNORE INTO blocks VALUES (?, ?)');
    this.#insertLarge = db.prepare('INSERT OR IGNORE INTO large VALUES (?, ?)');
    this.#insertWithheld = db.prepare('INSERT INTO withheld VALUES (?, ?, ?, ?, ?, 1)');
    this.#keys = new KeyBuckets(db);
  }

  write(blocks: readonly Block[], withholdings: readonly SegmentWithholding[]): void {
    this.#db.exec('BEGIN');
    for (const { number, seq, time, reason, digest } of withholdings)
      this.#insertWithheld.run(number, seq, time, reason, Buffer.from(digest, 'hex'));
    for (const block of blocks) {
      this.#insert.run(block.first, block.data);
      for (const row of rowsOf(block)) {
        if (row.large !== undefined) this.#insertLarge.run(row.large, row.seq);
        if (row.key !== undefined) this.#keys.add(keyIn(row.key), row.seq);
      }
    }
    this.#db.exec('COMMIT');
  }
}

/** Leaves out those that cannot be read. */
function* rowsOf(block: Block): Generator<EntryRow> {
  for (let seq = block.first; seq <= block.last; seq += 1) {
    try {
      const row = block.entry(seq);
      if (row !== undefined) yield row;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
    }
  }
}

async function copyLargeFiles(files: readonly string[], target: DataPaths): Promise<void> {
  const folders = new Set<string>();
  for (const file of files) {
    const to = finalPath(target, basename(file));
    folders.add(dirname(to));
    await mkdir(dirname(to), { recursive: true });
    await copyFile(file, to, constants.COPYFILE_FICLONE);
    await using handle = await open(to, 'r+');
    await handle.sync();
  }
  for (const folder of folders) flushFolder(folder);
}
