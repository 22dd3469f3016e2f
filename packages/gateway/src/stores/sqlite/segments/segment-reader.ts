/**
 * Reads the indexes of segments, in any thread. A segment is read only while the segments' thread says
 * that it can be, and a result counts only if the file is still the one that the thread has checked or
 * written. Otherwise the thread is told, and the log has to be read in its place.
 *
 * No statement is held from one turn of the event loop to the next.
 */
import { statSync } from 'node:fs';

import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isMissing } from '../segment-record.ts';
import { type SegmentState, type SharedSegments, fingerprintOf } from '../shared-segments.ts';
import type { SearchSteps } from './search/search-steps.ts';
import { IndexConnection, indexFile, isCorrupt } from './segment-database.ts';

/** Each takes a descriptor. */
const MAX_OPEN = 256;

/** A segment whose file is not what it should be. */
export interface SpoiledSegment {
  readonly number: number;
  readonly generation: number;
  /** Whether the bytes were read: they cannot be right, whatever their checksum. */
  readonly isCorrupt: boolean;
}

interface OpenSegment {
  readonly file: string;
  readonly ino: number;
  readonly isSealed: boolean;
  readonly connection: IndexConnection;
}

type Read<T> = (connection: IndexConnection) => T;

export class SegmentReader implements Disposable {
  readonly #paths: DataPaths;
  readonly segments: SharedSegments;
  readonly #onSpoiled: (spoiled: SpoiledSegment) => void;
  /** The one that was used last is at the end. */
  readonly #open = new Map<number, OpenSegment>();

  constructor(
    paths: DataPaths,
    segments: SharedSegments,
    onSpoiled: (spoiled: SpoiledSegment) => void,
  ) {
    this.#paths = paths;
    this.segments = segments;
    this.#onSpoiled = onSpoiled;
  }

  /** What `read` returns; undefined if the segment cannot be read now. */
  *steps<T>(number: number, read: Read<T>): SearchSteps<{ readonly value: T } | undefined> {
    for (;;) {
      const found = this.#read(number, read);
      if (found !== 'changing') return found;
      yield;
    }
  }

  /** The same; undefined also if it can be read in a moment. */
  now<T>(number: number, read: Read<T>): T | undefined {
    const found = this.#read(number, read);
    return found === 'changing' ? undefined : found?.value;
  }

  /** 'changing' if it can be read in a moment. */
  #read<T>(number: number, read: Read<T>): { readonly value: T } | 'changing' | undefined {
    const state = this.segments.state(number);
    if (state === undefined) {
      this.#close(number);
      return undefined;
    }
    if (state.generation % 2 !== 0) return 'changing';
    let open: OpenSegment | undefined;
    try {
      open = this.#connect(number, state.isSealed);
      const value = read(open.connection);
      const stats = statSync(open.file);
      if (this.#hasChanged(number, state)) return 'changing';
      if (fingerprintOf(stats) !== state.fingerprint) return this.#report(number, state, false);
      if (stats.ino === open.ino) return { value };
      // The segments' thread has put another file in its place.
      this.#close(number);
      return 'changing';
    } catch (error) {
      return this.#failed(number, state, { error, ino: open?.ino });
    }
  }

  [Symbol.dispose](): void {
    for (const number of this.#open.keys()) this.#close(number);
  }

  #connect(number: number, isSealed: boolean): OpenSegment {
    if (this.#open.get(number)?.isSealed !== isSealed) this.#close(number);
    let open = this.#open.get(number);
    this.#open.delete(number);
    if (open === undefined) {
      const file = indexFile(this.#paths, number);
      const { ino } = statSync(file);
      open = { file, ino, isSealed, connection: new IndexConnection(file, isSealed) };
    }
    this.#open.set(number, open);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#close(oldest);
    return open;
  }

  #close(number: number): void {
    this.#open.get(number)?.connection.close();
    this.#open.delete(number);
  }

  #hasChanged(number: number, { generation }: SegmentState): boolean {
    return this.segments.generation(number) !== generation;
  }

  /** `ino`: of the file that was read, if it could be opened. */
  #failed(
    number: number,
    state: SegmentState,
    { error, ino }: { readonly error: unknown; readonly ino: number | undefined },
  ): 'changing' | undefined {
    assertStorageFault(error);
    this.#close(number);
    if (this.#hasChanged(number, state)) return 'changing';
    try {
      const stats = statSync(indexFile(this.#paths, number));
      const isOther = fingerprintOf(stats) !== state.fingerprint;
      // The spoiled file was replaced. A file keeps its inode while it is open.
      if (!isOther && ino !== undefined && stats.ino !== ino) return 'changing';
      if (isOther || isCorrupt(error)) return this.#report(number, state, !isOther);
    } catch (fault) {
      if (isMissing(fault)) return this.#report(number, state, false);
      assertStorageFault(fault);
    }
    // Such as too many open files: the log can be read now, and the segment later.
    return undefined;
  }

  #report(number: number, { generation }: SegmentState, isWrong: boolean): undefined {
    this.#close(number);
    this.#onSpoiled({ number, generation, isCorrupt: isWrong });
  }
}
