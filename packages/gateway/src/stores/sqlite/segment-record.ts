/** What the index of a segment is, with checksums. A segment without a record was being written at the last end. */
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

import type { RoomCount, Seq } from '../../log/log.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from './data-paths.ts';
import { flushFolder } from './prepare-folder.ts';

export interface SegmentRecord {
  readonly format: number;
  readonly log: string;
  readonly capacity: number;
  /** The newest entry that it has, and its link in hex; null where that cannot be read. */
  readonly last: Seq;
  readonly link: string | null;
  readonly isSealed: boolean;
  /** Bytes of the index, and their CRC-32. */
  readonly size: number;
  readonly sum: number;
  readonly counts: readonly RoomCount[];
}

export function segmentFolder({ segments }: DataPaths, number: number): string {
  return join(segments, String(number).padStart(6, '0'));
}

/** Never makes the data folder: if it was moved, a new one in its place would be in the way. */
export function makeSegmentFolder(paths: DataPaths, number: number): void {
  makeIfMissing(paths.segments);
  makeIfMissing(segmentFolder(paths, number));
}

export function makeIfMissing(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
  }
}

export function recordFile(paths: DataPaths, number: number): string {
  return join(segmentFolder(paths, number), 'segment.json');
}

/** The numbers of the segments that have a folder, ascending. */
export function segmentNumbers({ segments }: DataPaths): number[] {
  try {
    const names = readdirSync(segments).filter((name) => /^\d{6,}$/.test(name));
    return names.map(Number).toSorted((a, b) => a - b);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Undefined if there is no record, or a changed one. Throws if it cannot be read now. */
export function readRecord(paths: DataPaths, number: number): SegmentRecord | undefined {
  return readChecked(recordFile(paths, number)) as SegmentRecord | undefined;
}

export function newestRecord(
  paths: DataPaths,
): { readonly file: string; readonly record: SegmentRecord } | undefined {
  for (const number of segmentNumbers(paths).toReversed()) {
    const file = recordFile(paths, number);
    const record = readChecked(file) as SegmentRecord | undefined;
    if (record !== undefined) return { file, record };
  }
  return undefined;
}

/** Reads what `writeChecked` wrote. Undefined if there is nothing, or something else. */
export function readChecked(file: string): unknown {
  try {
    const [sum = '', json = ''] = readFileSync(file, 'utf8').split('\n');
    return sum === sumOf(json) ? JSON.parse(json) : undefined;
  } catch (error) {
    assertStorageFault(error);
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a value with a checksum. Flushed before it returns. */
export function writeChecked(file: string, value: object): void {
  const json = JSON.stringify(value);
  const temporary = `${file}.new`;
  // Whatever is there is not followed if it is a link.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${sumOf(json)}\n${json}\n`, { flag: 'wx', flush: true });
  renameSync(temporary, file);
  flushFolder(dirname(file));
}

/** The CRC-32 of a text. */
export function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  );
}
