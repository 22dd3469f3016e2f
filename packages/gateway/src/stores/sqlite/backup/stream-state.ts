/**
 * Where a copy of a cluster's log stands in its stream, in a file of a backup: what is restored with it is
 * the copy as it was at that moment, and its gateway reads on from there.
 */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';

import { META_TABLE, openForReading } from '../database.ts';
import { copyStreamState } from '../log/stream-progress.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { BackupPaths } from './backup-folder.ts';

export interface StreamState {
  /** The name of its folder, which is beside those of the segments. */
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** Within a read transaction of the caller, so that it fits what else is read there. Flushed. */
export function writeStreamState(log: DatabaseSync, paths: BackupPaths, name: string): void {
  const folder = join(paths.segments, name);
  mkdirSync(folder);
  {
    using db = new DatabaseSync(fileOf(paths, name));
    db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; BEGIN; ${META_TABLE}`);
    copyStreamState(log, db);
    db.exec('COMMIT');
  }
  for (const path of [folder, paths.segments]) flushFolder(path);
}

export async function describeStreamState(paths: BackupPaths, name: string): Promise<StreamState> {
  const file = fileOf(paths, name);
  const { size: bytes } = await stat(file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Throws where the file is not what was written. */
export async function restoreStreamState(
  paths: BackupPaths,
  state: StreamState,
  log: DatabaseSync,
): Promise<void> {
  const { sha256 } = await describeStreamState(paths, state.name);
  if (sha256 !== state.sha256)
    throw new Error('what it has of the stream is not what was written: restore another one');
  using db = openForReading(fileOf(paths, state.name));
  log.exec('BEGIN');
  copyStreamState(db, log);
  log.exec('COMMIT');
}

function fileOf(paths: BackupPaths, name: string): string {
  return join(paths.segments, name, 'stream.sqlite');
}
