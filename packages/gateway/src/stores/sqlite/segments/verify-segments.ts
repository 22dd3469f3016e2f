/**
 * Verifies the segments of a folder by their checksums. What it finds is lost to nobody, since a gateway
 * finds it too, and makes the segment again from the log.
 *
 * Changes nothing. A gateway may run meanwhile: a segment that is being written has no checksum yet.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';

import { assertStorageFault } from '../../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { isMissing, readRecord, recordFile, segmentNumbers } from '../segment-record.ts';
import { headerOf, runsFolder } from './run-files.ts';
import { indexFile, SEGMENT_FORMAT } from './segment-database.ts';
import { SpoiledFile, verifyFile } from './segment-files.ts';

export interface DerivedFault {
  readonly file: string;
  /** Completes a sentence that begins with the name of the file. */
  readonly description: string;
}

/**
 * Yields what has changed as it is found, with paths relative to the folder. `logId`: the name of the log.
 * Segments that are not there yet are no fault.
 */
export async function* verifyDerived(
  folder: string,
  logId: string,
): AsyncGenerator<DerivedFault, void, undefined> {
  const paths = dataPathsIn(folder);
  for (const number of segmentNumbers(paths))
    for await (const { file, description } of segmentFaults(paths, number, logId))
      yield { file: relative(folder, file), description };
}

async function* segmentFaults(
  paths: DataPaths,
  number: number,
  logId: string,
): AsyncGenerator<DerivedFault, void, undefined> {
  const record = recordFile(paths, number);
  const found = readRecord(paths, number);
  if (found !== undefined && found.format !== SEGMENT_FORMAT)
    yield { file: record, description: `has format ${found.format} in place of ${SEGMENT_FORMAT}` };
  else if (found !== undefined && found.log !== logId)
    yield { file: record, description: 'is of another log' };
  else if (found === undefined && isFile(record))
    yield { file: record, description: 'is not what was written' };
  else if (found !== undefined) {
    const file = indexFile(paths, number);
    try {
      for await (const _ of verifyFile(file, found)) await nextTick();
    } catch (error) {
      assertStorageFault(error);
      const wasReplaced = readRecord(paths, number)?.sum !== found.sum;
      const description = wasReplaced ? 'was made again meanwhile by the gateway' : faultOf(error);
      yield { file, description };
    }
  }
  for (const file of runsIn(paths, number)) {
    await nextTick();
    if (hasOtherBytes(file)) yield { file, description: 'has other bytes than were written' };
  }
}

function faultOf(error: Error): string {
  return error instanceof SpoiledFile
    ? 'has other bytes than were written'
    : `cannot be read (${error.message})`;
}

function runsIn(paths: DataPaths, number: number): string[] {
  const folder = runsFolder(paths, number);
  try {
    return readdirSync(folder).flatMap((name) => (name.endsWith('.new') ? [] : join(folder, name)));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isFile(path: string): boolean {
  return readOrMissing(path) !== undefined;
}

/** Not where it is gone: the gateway may remove it. */
function hasOtherBytes(path: string): boolean {
  const bytes = readOrMissing(path);
  return bytes !== undefined && headerOf(bytes) === undefined;
}

function readOrMissing(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
