/** The files of segments as a whole: checking and removing them. */
import { existsSync, readdirSync, rmdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { flushFolder } from '../prepare-folder.ts';
import { recordFile, segmentFolder } from '../segment-record.ts';

const CHUNK_SIZE = 1024 * 1024;

/** A file of a segment is not what was written. */
export class SpoiledFile extends StorageFault {}

/** Removes a segment. Flushed before it returns; whoever still has one of its files open finds its end. */
export function removeSegment(paths: DataPaths, number: number): void {
  const folder = segmentFolder(paths, number);
  // Without it, nothing of the segment is used by the next start.
  rmSync(recordFile(paths, number), { force: true });
  if (!existsSync(folder)) return;
  removeFolder(folder);
  flushFolder(paths.segments);
}

function removeFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFolder(path);
    else {
      if (entry.isFile()) truncateSync(path);
      rmSync(path);
    }
  }
  rmdirSync(folder);
}

/** Yields between pieces of the file; then returns its CRC-32. */
export async function* checksumOf(
  file: string,
  size: number,
): AsyncGenerator<void, number, undefined> {
  await using handle = await open(file);
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_SIZE, Math.max(1, size)));
  let sum = 0;
  for (let at = 0; at < size;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new SpoiledFile(`"${file}" is too short.`);
    sum = crc32(buffer.subarray(0, bytesRead), sum);
    at += bytesRead;
    yield;
  }
  return sum;
}

/** Yields between pieces of the file; throws `SpoiledFile` where it is not what was written. */
export async function* verifyFile(
  file: string,
  { size, sum }: { readonly size: number; readonly sum: number },
): AsyncGenerator<void, void, undefined> {
  const found = statSync(file, { throwIfNoEntry: false })?.size;
  if (found === undefined) throw new SpoiledFile(`"${file}" is missing.`);
  if (found !== size) throw new SpoiledFile(`"${file}" has ${found} bytes, not ${size}.`);
  if ((yield* checksumOf(file, size)) !== sum)
    throw new SpoiledFile(`"${file}" has other bytes than were written.`);
}
