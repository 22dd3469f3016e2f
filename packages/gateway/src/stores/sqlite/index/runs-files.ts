/**
 * Runs: sequences of about a megabyte of entries of one kind, joined newest first as a listing
 * returns them. Each is in the file of its kind, and compressed in further files once somebody has
 * asked for that. The bytes of a run begin with the joiner, compressed apart.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import type { Kind } from '@open-presence/protocol';

import type { Seq, StoredEncoding } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';

/** Longer runs, in bytes, are not written: a run is verified as a whole. */
export const MAX_RUN_SIZE: number = 1280 * 1024;
/** Joins the entries of a run, and runs. */
export const RUN_JOINER = ',\n';

export interface Run {
  readonly first: Seq;
  readonly last: Seq;
  readonly count: number;
  /** Bytes in the file of the kind. */
  readonly position: number;
  readonly length: number;
  /** See `sumOf`. */
  readonly sum: number;
}

/** A run in the file of an encoding. */
export interface EncodedRun {
  readonly kind: Kind;
  readonly encoding: StoredEncoding;
  readonly first: Seq;
  readonly last: Seq;
  readonly position: number;
  readonly length: number;
  /** Bytes of its text, and their CRC-32; and that with the joiner before the text. */
  readonly size: number;
  readonly crc: number;
  readonly joinedCrc: number;
  readonly sum: number;
}

/** The bytes of a run in one of its files. */
export interface RunBytes {
  readonly file: string;
  readonly position: number;
  readonly length: number;
  /** What else the sum covers: the other columns of the row. */
  readonly row: string;
  readonly sum: number;
}

export function runsFile(paths: DataPaths, kind: Kind, encoding?: StoredEncoding): string {
  return join(paths.runs, encoding === undefined ? kind : `${kind}.${encoding}`);
}

export function plainBytes(paths: DataPaths, kind: Kind, run: Run): RunBytes {
  const { first, last, count, position, length, sum } = run;
  const row = `${kind} ${first} ${last} ${count} ${position}`;
  return { file: runsFile(paths, kind), position, length, row, sum };
}

export function encodedBytes(paths: DataPaths, run: EncodedRun): RunBytes {
  const { kind, encoding, first, last, position, length, size, crc, joinedCrc, sum } = run;
  const row = `${kind} ${encoding} ${first} ${last} ${position} ${size} ${crc} ${joinedCrc}`;
  return { file: runsFile(paths, kind, encoding), position, length, row, sum };
}

/** The checksum of a row and its bytes. */
export function sumOf({ row }: RunBytes, bytes: Uint8Array): number {
  return crc32(bytes, crc32(row));
}

export function bytesHold(run: RunBytes, bytes: Uint8Array): boolean {
  return bytes.length === run.length && sumOf(run, bytes) === run.sum;
}

/** Whether the row can be one that was written: a spoiled one may have any numbers. */
export function isPossible(run: Run): boolean {
  const { first, last, count, length } = run;
  return first > 0 && first <= last && count > 0 && count <= length && isReadable(run);
}

export function isReadable({ position, length }: Pick<RunBytes, 'position' | 'length'>): boolean {
  return length > 0 && length <= MAX_RUN_SIZE && position >= 0;
}

/** The bytes if they are those that were written. Throws where there is no file. */
export function readRun(run: RunBytes): Buffer | undefined {
  if (!isReadable(run)) return undefined;
  const bytes = Buffer.alloc(run.length);
  const file = openSync(run.file, 'r');
  try {
    readSync(file, bytes, 0, run.length, run.position);
    return bytesHold(run, bytes) ? bytes : undefined;
  } catch (error) {
    assertStorageFault(error);
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** Puts zeros in place of the bytes. Flushed before it returns. */
export function eraseRun({ file: path, position, length }: RunBytes): void {
  if (!isReadable({ position, length }) || !existsSync(path)) return;
  const file = openSync(path, 'r+');
  try {
    const zeros = Buffer.alloc(Math.max(0, Math.min(length, fstatSync(file).size - position)));
    for (let at = 0; at < zeros.length;)
      at += writeSync(file, zeros, at, zeros.length - at, position + at);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function runHolds(run: RunBytes): boolean {
  return readRun(run) !== undefined;
}
