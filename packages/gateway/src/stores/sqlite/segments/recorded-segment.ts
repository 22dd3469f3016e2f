/** What a segment's record says of it: writing that, and whether it holds. */
import { closeSync, fsyncSync, openSync, type Stats, statSync } from 'node:fs';

import type { Seq } from '../../../log/log.ts';
import type { FaultCause } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { readable } from '../database.ts';
import type { RowReader } from '../log/row-reader.ts';
import { readRecord, recordFile, type SegmentRecord, writeChecked } from '../segment-record.ts';
import type { SharedState } from '../shared-state.ts';
import { indexFile, SEGMENT_FORMAT } from './segment-database.ts';
import { checksumOf, SpoiledFile, verifyFile } from './segment-files.ts';

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

/** Yields between pieces; throws `SpoiledFile` where the segment is not what the record says. */
export async function* verifyRecorded(
  paths: DataPaths,
  number: number,
  record: SegmentRecord,
): AsyncGenerator<void, void, undefined> {
  const stored = readRecord(paths, number);
  if (stored?.sum !== record.sum || stored.last !== record.last)
    throw new SpoiledFile(`"${recordFile(paths, number)}" is not what was written.`);
  yield* verifyFile(indexFile(paths, number), record);
}

/** Flushed before it resolves. */
export async function writeRecord(
  { paths, shared, log, logId }: SegmentsContext,
  number: number,
  known: Pick<SegmentRecord, 'last' | 'counts' | 'isSealed'>,
): Promise<SegmentRecord> {
  const file = indexFile(paths, number);
  const { size } = statSync(file);
  const steps = checksumOf(file, size);
  let step = await steps.next();
  while (step.done !== true) step = await steps.next();
  const link = linkAt(log, known.last) ?? null;
  const own = { format: SEGMENT_FORMAT, log: logId, capacity: shared.segments.size, link };
  const record = { ...known, ...own, size, sum: step.value };
  writeChecked(recordFile(paths, number), record);
  return record;
}

/** Undefined where the entry cannot be read. */
function linkAt(log: RowReader, seq: Seq): string | undefined {
  return readable(() => log.linkAt(seq));
}

export function flushFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Throws `SpoiledFile` where it is missing. */
export function statOf(file: string): Stats {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new SpoiledFile(`"${file}" is missing.`);
  return stats;
}
