/**
 * Where a copy of a cluster's log stands in its stream, in a file of a backup: what is restored with it is
 * the copy as it was at that moment, and its gateway reads on from there.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';

import { META_TABLE, openForReading } from '../database.ts';
import { copyStreamState, readStreamPosition } from '../log/stream-progress.ts';
import { openRegular, plainDatabase, plainFile } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { type BackupPaths, SEGMENTS } from './backup-folder.ts';

const FILE = 'stream.sqlite';

export interface StreamState {
  /** The name of its folder, which is beside those of the segments. */
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/**
 * Within a read transaction of the caller, so that it fits what else is read there. Flushed. Returns the
 * name of the folder; undefined for a log that is no copy.
 */
export function writeStreamState(log: DatabaseSync, paths: BackupPaths): string | undefined {
  if (readStreamPosition(log) === undefined) return undefined;
  const name = `stream-${randomBytes(4).toString('hex')}`;
  const folder = join(paths.segments, name);
  mkdirSync(folder);
  {
    using db = new DatabaseSync(join(folder, FILE));
    db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; BEGIN; ${META_TABLE}`);
    copyStreamState(log, db);
    db.exec('COMMIT');
  }
  for (const path of [folder, paths.segments]) flushFolder(path);
  return name;
}

export async function removeStreamState(paths: BackupPaths, name: string): Promise<void> {
  await rm(join(paths.segments, name), { recursive: true });
}

export async function describeStreamState(paths: BackupPaths, name: string): Promise<StreamState> {
  await using handle = await openRegular(plainFile(paths.folder, ...namesOf(name)));
  const { size: bytes } = await handle.stat();
  const hash = createHash('sha256');
  await pipeline(handle.createReadStream({ autoClose: false }), hash);
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Throws where the file is not what was written. */
export async function verifyStreamState(paths: BackupPaths, state: StreamState): Promise<void> {
  const found = await describeStreamState(paths, state.name).catch((error: unknown) => error);
  if (found instanceof Error || (found as StreamState).sha256 !== state.sha256)
    throw new Error('what it has of the stream is not what was written: restore another one', {
      cause: found,
    });
}

export function restoreStreamState(
  paths: BackupPaths,
  { name }: StreamState,
  log: DatabaseSync,
): void {
  using db = openForReading(plainDatabase(paths.folder, ...namesOf(name)));
  log.exec('BEGIN');
  copyStreamState(db, log);
  log.exec('COMMIT');
}

function namesOf(name: string): [segments: string, name: string, file: string] {
  return [SEGMENTS, name, FILE];
}
