/** Makes the log of a backup: its entries, and its name. */
import { constants } from 'node:fs';
import { copyFile, mkdir, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import type { DataPaths } from '../data-paths.ts';
import { createLog, LOG_FORMAT } from '../log/log-database.ts';
import { finalPath } from '../large/large-files.ts';
import type { VerifyEvent } from '../repair/verify.ts';
import { numberAllWithheld } from '../withholding/withheld-table.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { BackupPaths } from './backup-folder.ts';
import type { Manifest, Segment } from './manifest.ts';
import { segmentFiles } from './segment-files.ts';
import { restoreStreamState, type StreamState, verifyStreamState } from './stream-state.ts';
import { copyRows, rowsFile } from './write-segments.ts';

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
    const progress = { entries: 0, bytes: 0, at: 0, head: manifest.head };
    for (const segment of manifest.segments) {
      const files = segmentFiles(backups, segment);
      db.prepare('ATTACH ? AS segment').run(
        `${pathToFileURL(rowsFile(backups, segment)).href}?mode=ro`,
      );
      db.exec('BEGIN');
      copyRows(db, 'segment', segment);
      db.exec('COMMIT; DETACH segment');
      await copyLargeFiles(files, paths);
      addTo(progress, segment);
      yield { type: 'progress', ...progress };
    }
    db.exec('UPDATE withheld SET isErased = 1');
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
