/** Verifies segments by their checksums. Changes nothing. A segment that is being written has no checksum yet. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault } from '../../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { isMissing, readRecord, recordFile, segmentNumbers } from '../segment-record.ts';
import { headerOf, chunkFolder } from './chunks/chunk-files.ts';
import { indexFile, SEGMENT_FORMAT } from './segment-database.ts';
import { SpoiledFile, verifyIndex } from './segment-files.ts';

export interface DerivedFault {
  readonly file: string;
  /** Completes a sentence that begins with the name of the file. */
  readonly description: string;
}

const OTHER_BYTES = 'has other bytes than were written';

/** Yields changed files, with paths relative to the folder. A missing segment is no fault. */
export async function* verifyDerived(
  folder: string,
  logId: string,
): AsyncGenerator<DerivedFault, void, undefined> {
  const paths = dataPathsIn(folder);
  for (const number of segmentNumbers(paths)) {
    const faults = [
      [recordFile(paths, number), recordFault(paths, number, logId)],
      [indexFile(paths, number), await indexFault(paths, number, logId)],
    ] as const;
    for (const [file, description] of faults)
      if (description !== undefined) yield { file: relative(folder, file), description };
    for (const file of chunksIn(paths, number)) {
      await nextTick();
      if (hasOtherBytes(file)) yield { file: relative(folder, file), description: OTHER_BYTES };
    }
  }
}

function recordFault(paths: DataPaths, number: number, logId: string): string | undefined {
  const record = readRecord(paths, number);
  if (record === undefined)
    return existsSync(recordFile(paths, number)) ? 'is not what was written' : undefined;
  if (record.format !== SEGMENT_FORMAT)
    return `has format ${record.format} in place of ${SEGMENT_FORMAT}`;
  return record.log === logId ? undefined : 'is of another log';
}

async function indexFault(
  paths: DataPaths,
  number: number,
  logId: string,
): Promise<string | undefined> {
  const record = readRecord(paths, number);
  if (record === undefined || recordFault(paths, number, logId) !== undefined) return undefined;
  try {
    for await (const _ of verifyIndex(paths, number, record)) await nextTick();
    return undefined;
  } catch (error) {
    assertStorageFault(error);
    if (readRecord(paths, number)?.sum !== record.sum)
      return 'was made again meanwhile by the gateway';
    return error instanceof SpoiledFile ? OTHER_BYTES : `cannot be read (${error.message})`;
  }
}

function chunksIn(paths: DataPaths, number: number): string[] {
  const folder = chunkFolder(paths, number);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => (name.endsWith('.new') ? [] : join(folder, name)));
}

/** Not where it is gone: the gateway may remove it. */
function hasOtherBytes(path: string): boolean {
  try {
    return headerOf(readFileSync(path)) === undefined;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
