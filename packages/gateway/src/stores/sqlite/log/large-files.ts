/**
 * The files of entries that are too large for a row. A body is uploaded to the folder `incoming`
 * while it arrives, so that a slow upload delays nobody. It is flushed before its entry is
 * committed, and moved to its final place afterwards. What a crash leaves in `incoming` is moved or
 * removed at the next start, depending on whether the log has the entry.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { FILTER_NAMES, type Filter } from '@open-presence/protocol';

import type { DataPaths } from '../data-paths.ts';

const CHUNK_SIZE = 256 * 1024;

/** The files that a body may have: its text, and the facets of each filter. */
export function filesOf(name: string): string[] {
  return [name, ...FILTER_NAMES.map((filter) => facetsFile(name, filter))];
}

export function facetsFile(name: string, filter: Filter): string {
  return `${name}.${filter}`;
}

/** Moves a committed body to its final place. */
export function finalizeUpload(paths: DataPaths, name: string): void {
  for (const file of filesOf(name)) {
    const from = join(paths.incoming, file);
    if (!existsSync(from)) continue;
    const to = finalPath(paths, file);
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
}

/** Removes a body that no entry has. */
export function removeUpload(paths: DataPaths, name: string): void {
  for (const file of filesOf(name)) rmSync(join(paths.incoming, file), { force: true });
}

/** The bodies that an earlier process left in the folder of uploads. */
export function uploadNames(paths: DataPaths): Set<string> {
  return new Set(readdirSync(paths.incoming).map((file) => file.split('.', 1)[0] ?? file));
}

/** The body of a large entry with the closing brace. A chunk is overwritten by the next. */
export async function* largeChunks(
  paths: DataPaths,
  name: string,
  from = 0,
): AsyncGenerator<Uint8Array> {
  const handle = await openLarge(paths, name);
  const buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  try {
    for (let at = from; ;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_SIZE, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** The same, blocking: for the threads of the indexes. Nothing if the file is missing. */
export function* largeChunksSync(paths: DataPaths, file: string): Generator<Uint8Array> {
  const path = [finalPath(paths, file), join(paths.incoming, file)].find(existsSync);
  if (path === undefined) return;
  const handle = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(CHUNK_SIZE);
    for (let size = readSync(handle, buffer); size > 0; size = readSync(handle, buffer)) {
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(handle);
  }
}

/** The facets that are not in the row, blocking, in chunks of whole facets. */
export function* largeFacets(paths: DataPaths, name: string): Generator<Uint8Array> {
  for (const filter of FILTER_NAMES) yield* largeChunksSync(paths, facetsFile(name, filter));
}

/** The file is moved once, from `incoming` to its final place, perhaps during this call. */
async function openLarge(paths: DataPaths, file: string): Promise<FileHandle> {
  const path = finalPath(paths, file);
  try {
    return await open(path);
  } catch {
    return await open(join(paths.incoming, file)).catch(() => open(path));
  }
}

/** Spread over 256 folders: some file systems are slow with a million files in one. */
function finalPath(paths: DataPaths, file: string): string {
  return join(paths.large, file.slice(0, 2), file);
}
