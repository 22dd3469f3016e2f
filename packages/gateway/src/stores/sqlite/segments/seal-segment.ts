/** Makes a full segment what it stays: merged as a whole, flushed, with its checksum. */
import { renameSync, rmSync } from 'node:fs';

import { fingerprintOf } from '../shared-segments.ts';
import type { SegmentRecord } from '../segment-record.ts';
import { indexFile } from './segment-database.ts';
import { flushFile, type SegmentsContext, statOf, writeRecord } from './segment-files.ts';
import type { SegmentWriter } from './segment-writer.ts';

/** In steps. Readers use the old file until the sealed one takes its place. */
export async function* sealSegment(
  context: SegmentsContext,
  writer: SegmentWriter,
  closeWriter: () => void,
): AsyncGenerator<void, SegmentRecord, undefined> {
  const { number, last } = writer;
  const { segments } = context.shared;
  writer.endChunks();
  while (writer.merge()) yield;
  const file = indexFile(context.paths, number);
  const copy = `${file}.new`;
  rmSync(copy, { force: true });
  writer.copyTo(copy);
  yield;
  flushFile(copy);
  const counts = writer.counts();
  segments.withdraw(number);
  closeWriter();
  renameSync(copy, file);
  segments.publish(number, fingerprintOf(statOf(file)), 'sealed');
  return await writeRecord(context, number, { last, counts, isSealed: true });
}
