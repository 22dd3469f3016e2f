/**
 * The files of entries that are too large for a row. A body is uploaded to the folder `incoming`
 * while it arrives, so that a slow upload delays nobody. Once it is complete, it is linked to its
 * final place and flushed there, before its entry is committed; the link in `incoming` is removed
 * afterwards. A rename would do only on file systems that write changes of folders in their order:
 * on ext2, a power cut could take the new name and leave the removal of the old one.
 *
 * What a crash leaves in `incoming` belongs to an entry or is removed at the next start.
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
import { closeSync, existsSync, readdirSync, readSync, rmSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';

import { BodyDigest, type LargeBody } from '../../../log/packed-drafts.ts';
import { assertStorageFault, isStorageFault, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { openRegular, openRegularSync } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import type { UploadThreads } from './upload-threads.ts';

const CHUNK_SIZE = 256 * 1024;

/** A complete body in the folder of uploads. */
interface Upload {
  readonly name: string;
  readonly handle: FileHandle;
}

/** Links it to its final place. Resolves when it and all folders on the way are flushed. */
export async function placeUpload(
  paths: DataPaths,
  threads: UploadThreads,
  { name, handle }: Upload,
): Promise<void> {
  // First in the folder of uploads: a file that is in its final place alone is evidence of an entry
  // (see `lost-history.ts`). Flushed together, since a journal writes both at once.
  await Promise.all([
    threads.run(() => flushNames(paths.incoming)),
    threads.run(() => handle.sync()),
  ]);
  const to = finalPath(paths, name);
  await threads.run(async () => {
    await linkOrCopy(join(paths.incoming, name), to);
    // Again, since the number of links is flushed with the file.
    await handle.sync();
  });
  for (const folder of [dirname(to), paths.large]) await threads.run(() => flushNames(folder));
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await link(from, to);
  } catch (error) {
    assertStorageFault(error);
    // Some file systems, such as exFAT, have no hard links.
    await copyFile(from, to);
    await using copy = await open(to, 'r+');
    await copy.sync();
  }
}

/** Removes a committed body from the folder of uploads, if it has its final place. */
export function finishUpload(paths: DataPaths, name: string): void {
  if (existsSync(finalPath(paths, name))) rmSync(join(paths.incoming, name), { force: true });
}

/** Removes a body that no entry has. Its final place goes first, flushed (see `lost-history.ts`). */
export function removeUpload(paths: DataPaths, name: string): void {
  const placed = finalPath(paths, name);
  if (existsSync(placed)) {
    rmSync(placed);
    flushFolder(dirname(placed));
  }
  rmSync(join(paths.incoming, name), { force: true });
}

export async function discardUpload(paths: DataPaths, name: string): Promise<void> {
  const placed = finalPath(paths, name);
  if (existsSync(placed)) {
    await rm(placed);
    await flushNames(dirname(placed));
  }
  await rm(join(paths.incoming, name), { force: true });
}

/** The bodies that an earlier process left in the folder of uploads. */
export function uploadNames(paths: DataPaths): Set<string> {
  return new Set(readdirSync(paths.incoming).map((file) => file.split('.', 1)[0] ?? file));
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
    await using handle = await openRegular(storedPath(paths, name));
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
  await using handle = await openRegular(storedPath(paths, name));
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
  const handle = unlessFault(() => openRegularSync(storedPath(paths, file)));
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

/** After a crash, the file may still be where it came in. */
function storedPath(paths: DataPaths, file: string): string {
  const [path, received] = [finalPath(paths, file), join(paths.incoming, file)];
  return !existsSync(path) && existsSync(received) ? received : path;
}

/** Spread over 256 folders: some file systems are slow with a million files in one. */
export function finalPath(paths: DataPaths, file: string): string {
  return join(paths.large, file.slice(0, 2), file);
}

async function flushNames(folder: string): Promise<void> {
  // Windows cannot flush a folder: NTFS writes its changes to a journal of its own.
  if (platform() === 'win32') return;
  await using handle = await open(folder);
  await handle.sync();
}
