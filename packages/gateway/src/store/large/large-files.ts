/**
 * The files of entries that are too large for a row. While a body arrives, its file is `large/xx/NAME.part`, so
 * that a slow upload delays nobody. A complete one is flushed and renamed to `large/xx/NAME`, and its folder is
 * flushed; then its entry is committed. Both names are in one folder: a power cut leaves either, on any file
 * system. A start removes the files that no entry has.
 *
 * Invariant: A body that breaks off or is refused leaves nothing behind.
 * Test: `test/log-contract/spooling.ts` “that is disposed of before it is appended leaves nothing”
 * Test: `test/log-contract/reopening.ts` “has nothing of a spool that was not appended”
 * Test: `packages/gateway/src/intake/draft.test.ts` “readDraft() disposes of the spool when a body
 *   is refused or breaks off”
 *
 * Invariant: A text that is larger than memory is stored and read back in flat memory.
 * Test: `test/large/large.test.ts` “a text of 520 MiB comes in and is read back byte for byte, in
 *   flat memory” “a form and a compressed body of 100 MiB come in, in flat memory”
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
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';

import { BodyDigest, type LargeBody } from '../../log/packed-drafts.ts';
import { isStorageFault, StorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { UploadThreads } from './upload-threads.ts';

const CHUNK_SIZE = 256 * 1024;
const UNFINISHED = '.part';
const NAME_SIZE = 36;

/** Opens the file of a body that arrives. */
export async function openUpload(
  paths: DataPaths,
  name: string,
  flags: string | number,
): Promise<FileHandle> {
  const path = uploadPath(paths, name);
  await mkdir(dirname(path), { recursive: true });
  return await open(path, flags);
}

/** A complete body that has arrived. */
interface Upload {
  readonly name: string;
  readonly handle: FileHandle;
}

/** Gives it its final name. Resolves when it and all folders on the way are flushed. */
export async function placeUpload(
  paths: DataPaths,
  threads: UploadThreads,
  { name, handle }: Upload,
): Promise<void> {
  const path = finalPath(paths, name);
  await threads.run(() => handle.sync());
  await threads.run(() => rename(uploadPath(paths, name), path));
  for (const folder of [dirname(path), paths.large]) await threads.run(() => flushNames(folder));
}

/** Removes a body that no entry has. */
export async function discardUpload(paths: DataPaths, name: string): Promise<void> {
  for (const path of [uploadPath(paths, name), finalPath(paths, name)])
    await rm(path, { force: true });
}

/** The same, for the writer. */
export function removeUpload(paths: DataPaths, name: string): void {
  for (const path of [uploadPath(paths, name), finalPath(paths, name)])
    rmSync(path, { force: true });
}

/** Removes what an earlier process left, before this one has uploads. */
export function removeUnused(paths: DataPaths, hasEntry: (name: string) => boolean): void {
  placeFormer(paths, hasEntry);
  for (const folder of readdirSync(paths.large, { withFileTypes: true })) {
    const path = join(paths.large, folder.name);
    if (!folder.isDirectory()) rmSync(path);
    else
      for (const file of readdirSync(path))
        if (file.endsWith(UNFINISHED) || !hasEntry(file.slice(0, NAME_SIZE)))
          rmSync(join(path, file));
  }
}

/** Version 0.2 had uploads in a folder of their own, from which a committed one was removed later. */
function placeFormer(paths: DataPaths, hasEntry: (name: string) => boolean): void {
  const former = join(paths.large, 'incoming');
  if (!existsSync(former)) return;
  for (const name of readdirSync(former)) {
    const path = finalPath(paths, name);
    if (!hasEntry(name) || existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    renameSync(join(former, name), path);
    flushFolder(dirname(path));
  }
  flushFolder(paths.large);
  rmSync(former, { recursive: true });
}

/** Errors that say nothing about the file: trying again may succeed. */
const TRANSIENT: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/** Whether the error says that a file is missing or cannot be read. */
export function isFileFault(error: unknown): error is Error {
  return isStorageFault(error) && !('code' in error && TRANSIENT.has(error.code));
}

/** Whether the file of a large entry has the size that was stored, and can be read at its start. */
export async function hasLargeFile(paths: DataPaths, name: string, size: number): Promise<boolean> {
  try {
    await using handle = await open(finalPath(paths, name));
    if ((await handle.stat()).size !== size) return false;
    await handle.read(Buffer.allocUnsafe(1), 0, 1, 0);
    return true;
  } catch (error) {
    if (isFileFault(error)) return false;
    throw error;
  }
}

function wrongSize(name: string, found: number, size: number): Error {
  return new StorageFault(`its file "${name}" has ${found} bytes, not ${size}`);
}

/**
 * The body with the closing brace. Each chunk reuses the buffer of the last. Throws if the file is shorter than
 * `size`.
 */
export async function* largeChunks(
  paths: DataPaths,
  name: string,
  from = 0,
  size = 0,
): AsyncGenerator<Uint8Array> {
  await using handle = await open(finalPath(paths, name));
  const buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  for (let at = from; ;) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_SIZE, at);
    if (bytesRead === 0 && at < size) throw wrongSize(name, at, size);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

export async function digestOfFile(
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<BodyDigest> {
  const found = new BodyDigest();
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    found.add(chunk);
  }
  return found;
}

/** Throws a fault where a file does not have the body. */
export function assertBody(found: BodyDigest, large: LargeBody): void {
  if (found.size !== large.size) throw wrongSize(large.name, found.size, large.size);
  if (!found.isOf(large))
    throw new StorageFault(`its file "${large.name}" has other bytes than were received`);
}

/** Blocking, for the threads of the indexes. As much of the file as can be read. */
export function* largeChunksSync(paths: DataPaths, file: string): Generator<Uint8Array> {
  const handle = unlessFault(() => openSync(finalPath(paths, file), 'r'));
  if (handle === undefined) return;
  try {
    const buffer = Buffer.alloc(CHUNK_SIZE);
    for (let size = 1; size > 0;) {
      size = unlessFault(() => readSync(handle, buffer)) ?? 0;
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(handle);
  }
}

/** Goes on after a file that cannot be read: later entries must still be indexed. */
function unlessFault<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isFileFault(error)) return undefined;
    throw error;
  }
}

/** Spread over 256 folders: some file systems are slow with a million files in one. */
export function finalPath(paths: DataPaths, file: string): string {
  return join(paths.large, file.slice(0, 2), file);
}

/** Of a body that is not complete. */
export function uploadPath(paths: DataPaths, name: string): string {
  return finalPath(paths, name) + UNFINISHED;
}

async function flushNames(folder: string): Promise<void> {
  // Windows cannot flush a folder: NTFS writes its changes to a journal of its own.
  if (platform() === 'win32') return;
  await using handle = await open(folder);
  await handle.sync();
}
