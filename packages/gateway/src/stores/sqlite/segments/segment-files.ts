/**
 * The files of a segment: what its record says of them, whether that holds, and removing them.
 *
 * Invariant: A segment whose files are lost, cut or changed is made again, and every answer is
 *   right meanwhile.
 * Test: `packages/gateway/src/stores/sqlite/segments/damage.test.ts` “are right again where … were
 *   … before a start, and every answer is” “are right again where … were … while they were read,
 *   and every answer is”
 * Test: `packages/cli/src/verify.test.ts` “names each that has changed, and that it is made again”
 * Test: `test/crash/search.test.ts` “the words of all that was acknowledged are found after
 *   crashes”
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
  truncateSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import type { Seq } from '../../../log/log.ts';
import { type FaultCause, StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable } from '../database.ts';
import type { RowReader } from '../log/row-reader.ts';
import { flushFolder } from '../prepare-folder.ts';
import {
  readRecord,
  recordFile,
  segmentFolder,
  type SegmentRecord,
  writeChecked,
} from '../segment-record.ts';
import type { SharedState } from '../shared-state.ts';
import { indexFile, SEGMENT_FORMAT } from './segment-database.ts';

const CHUNK_SIZE = 1024 * 1024;

/** A file of a segment is not what was written. */
export class SpoiledFile extends StorageFault {}

export interface SegmentsContext {
  readonly paths: DataPaths;
  readonly shared: SharedState;
  readonly log: RowReader;
  readonly logId: string;
  /** Reports that a segment is not what was written. */
  readonly onSpoiled: (cause: FaultCause) => void;
}

/** Whether a segment of this form can be one of the log. */
export function isUsable(
  { shared, log, logId }: SegmentsContext,
  number: number,
  record: SegmentRecord | undefined,
): record is SegmentRecord {
  if (record === undefined) return false;
  const { segments, head } = shared;
  const { format, log: id, capacity, last, link, isSealed } = record;
  if (format !== SEGMENT_FORMAT || id !== logId || capacity !== segments.size) return false;
  const end = segments.lastOf(number);
  if (last > head || last > end || (isSealed && last < end)) return false;
  return link === null || linkAt(log, last) === link;
}

/** Flushed before it resolves. */
export async function writeRecord(
  { paths, shared, log, logId }: SegmentsContext,
  number: number,
  known: Pick<SegmentRecord, 'last' | 'counts' | 'isSealed'>,
): Promise<SegmentRecord> {
  const file = indexFile(paths, number);
  const { size } = statOf(file);
  const steps = checksumOf(file, size);
  let step = await steps.next();
  while (step.done !== true) step = await steps.next();
  const link = linkAt(log, known.last) ?? null;
  const own = { format: SEGMENT_FORMAT, log: logId, capacity: shared.segments.size, link };
  const record = { ...known, ...own, size, sum: step.value };
  writeChecked(recordFile(paths, number), record);
  return record;
}

/** Somebody may have removed the index. The next start compares its content. */
export function restoreRecord(paths: DataPaths, number: number, record: SegmentRecord): void {
  if (!existsSync(indexFile(paths, number)) || readRecord(paths, number)?.sum === record.sum)
    return;
  writeChecked(recordFile(paths, number), record);
}

function linkAt(log: RowReader, seq: Seq): string | undefined {
  return readable(() => log.linkAt(seq));
}

/** Yields between pieces of the index. Throws `SpoiledFile` if it is not what the record says. */
export async function* verifyIndex(
  paths: DataPaths,
  number: number,
  { size, sum }: Pick<SegmentRecord, 'size' | 'sum'>,
): AsyncGenerator<void, void, undefined> {
  const file = indexFile(paths, number);
  const found = statOf(file);
  if (found.size !== size) throw new SpoiledFile(`"${file}" has ${found.size} bytes, not ${size}.`);
  if ((yield* checksumOf(file, size)) !== sum)
    throw new SpoiledFile(`"${file}" has other bytes than were written.`);
}

/** The same for the record too. */
export async function* verifyRecorded(
  paths: DataPaths,
  number: number,
  record: SegmentRecord,
): AsyncGenerator<void, void, undefined> {
  const stored = readRecord(paths, number);
  if (stored?.sum !== record.sum || stored.last !== record.last)
    throw new SpoiledFile(`"${recordFile(paths, number)}" is not what was written.`);
  yield* verifyIndex(paths, number, record);
}

/** Throws `SpoiledFile` where it is missing. */
export function statOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new SpoiledFile(`"${file}" is missing.`);
  return stats;
}

/** Yields between pieces of the file; then returns its CRC-32. */
async function* checksumOf(file: string, size: number): AsyncGenerator<void, number, undefined> {
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

export function flushFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Removes a segment, flushed. A reader that has one of its files open can read it to its end. */
export function removeSegment(paths: DataPaths, number: number): void {
  const folder = segmentFolder(paths, number);
  // Without it, nothing of the segment is used by the next start.
  rmSync(recordFile(paths, number), { force: true });
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) truncateSync(join(entry.parentPath, entry.name));
  rmSync(folder, { recursive: true });
  flushFolder(paths.segments);
}
