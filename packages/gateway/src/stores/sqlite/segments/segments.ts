/**
 * Keeps the segments, in their thread: follows the log into the newest, seals full ones, and checks all of
 * them after a start. A segment that has changed, or that has a withheld entry, is removed and made again.
 * All work is short steps, one at a time.
 */
import { rmSync } from 'node:fs';

import type { RoomCount, Seq } from '../../../log/log.ts';
import { assertStorageFault, causeOf, StorageFault } from '../../../storage-fault.ts';
import { readRecord, recordFile, segmentNumbers, type SegmentRecord } from '../segment-record.ts';
import { type SharedSegments, fingerprintOf } from '../shared-segments.ts';
import { RoomTally } from './room-counts.ts';
import { indexFile, isCorrupt } from './segment-database.ts';
import {
  isUsable,
  removeSegment,
  restoreRecord,
  type SegmentsContext,
  SpoiledFile,
  statOf,
  verifyIndex,
  verifyRecorded,
  writeRecord,
} from './segment-files.ts';
import type { SpoiledSegment } from './segment-reader.ts';
import { SegmentWriter } from './segment-writer.ts';

type Steps = AsyncGenerator<void, void, undefined>;

interface Job {
  readonly number: number;
  readonly steps: Steps;
}

/** A segment is being written until it is sealed. */
interface Segment {
  writer: SegmentWriter | undefined;
  record: SegmentRecord | undefined;
  isVerified: boolean;
}

export class Segments {
  readonly #context: SegmentsContext;
  readonly #shared: SharedSegments;
  readonly #segments = new Map<number, Segment>();
  readonly #spoiled = new Map<number, SpoiledSegment>();
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();
  /** What is being done with a segment, one step after another. */
  #job: Job | undefined;
  #newest = 0;
  #tally = new RoomTally();

  constructor(context: SegmentsContext) {
    this.#context = context;
    this.#shared = context.shared.segments;
  }

  /** Finds what is there. To be taken to its end before anything else. */
  async *open(): Steps {
    const { paths, shared } = this.#context;
    for (const number of segmentNumbers(paths)) {
      const record = readRecord(paths, number);
      if (isUsable(this.#context, number, record) && (await this.#reopened(number, record)))
        continue;
      removeSegment(paths, number);
    }
    this.#newest = Math.max(0, ...this.#segments.keys());
    shared.indexed = this.#positionOf(this.#newest) ?? 0;
    for (const [number, { writer }] of this.#segments)
      if (number === this.#newest || writer?.isFull === true) writer?.publish();
    yield* this.#count();
  }

  get behind(): number {
    const { head, indexed } = this.#context.shared;
    return head - indexed;
  }

  follow(): void {
    const { shared } = this.#context;
    const writer = this.#newestWriter();
    // What is made again is another job, and was counted before.
    if (writer === undefined || writer.position < shared.indexed) return;
    const counts = this.#step(writer, shared.head);
    if (counts.length > 0) this.#addCounts(counts, writer.position);
    shared.indexed = writer.position;
  }

  /** Does some of what else there is to do. Returns false if there is nothing. */
  async work(): Promise<boolean> {
    this.#removeSpoiled();
    this.#job ??= this.#nextJob();
    if (this.#job === undefined) return false;
    const { number, steps } = this.#job;
    try {
      if ((await steps.next()).done === true) this.#job = undefined;
    } catch (error) {
      this.#job = undefined;
      if (!(error instanceof SpoiledFile) && !isCorrupt(error)) throw error;
      this.#replace(number, error as Error);
    }
    return true;
  }

  /** A reader has found it. */
  report(spoiled: SpoiledSegment): void {
    this.#spoiled.set(spoiled.number, spoiled);
  }

  /**
   * Removes the segments that have these entries, and the segments in which `names` finds one of their authors. Then
   * counts again.
   */
  async *removeWith(seqs: readonly Seq[], names: (number: number) => boolean): Steps {
    const has = (seq: Seq): boolean => {
      const segment = this.#segments.get(this.#shared.numberOf(seq));
      return segment !== undefined && seq <= (segment.writer?.position ?? Infinity);
    };
    const numbers = new Set(seqs.filter(has).map((seq) => this.#shared.numberOf(seq)));
    const first = Math.min(...numbers);
    for (const number of this.#segments.keys())
      if (numbers.has(number) || (number > first && names(number))) this.#remove(number);
    this.#tally = new RoomTally();
    for (const { record, writer } of this.#segments.values())
      this.#tally.addCounts(record?.counts ?? writer?.counts() ?? []);
    yield* this.#count();
  }

  /** Resolves when the segment can be read. Rejects once it cannot be made. */
  async available(number: number): Promise<void> {
    if (this.#shared.state(number) !== undefined && !this.#spoiled.has(number)) return;
    const waiting = this.#waiting.get(number) ?? Promise.withResolvers<void>();
    this.#waiting.set(number, waiting);
    await waiting.promise;
  }

  /** Passes the error to whoever waits for a segment. */
  failed(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** What was written is checked by the next start. */
  async close(): Promise<void> {
    this.failed(new StorageFault('The log is closed.'));
    await this.#job?.steps.return();
    for (const [number, { writer, record }] of this.#segments) {
      if (record !== undefined) restoreRecord(this.#context.paths, number, record);
      if (writer === undefined) continue;
      writer.endChunks();
      const [last, counts] = [writer.position, writer.counts()];
      writer.close();
      await writeRecord(this.#context, number, { last, counts, isSealed: false });
    }
  }

  /** Opens the unfinished segment of the last stop. Returns false if it is not what was written. */
  async #reopened(number: number, record: SegmentRecord): Promise<boolean> {
    const { paths } = this.#context;
    if (record.isSealed) {
      this.#segments.set(number, { writer: undefined, record, isVerified: false });
      this.#tally.addCounts(record.counts);
      return true;
    }
    try {
      for await (const _ of verifyIndex(paths, number, record));
    } catch (error) {
      if (!(error instanceof SpoiledFile)) throw error;
      this.#context.onSpoiled(causeOf(error));
      return false;
    }
    rmSync(recordFile(paths, number));
    this.#writerOf(number);
    this.#tally.addCounts(record.counts);
    return true;
  }

  /** Counts the entries before the watermark that no record counts. */
  async *#count(): Steps {
    const { shared, log } = this.#context;
    for (let number = 0; number <= this.#newest; number += 1) {
      const from = (this.#positionOf(number) ?? this.#shared.firstOf(number) - 1) + 1;
      yield* this.#tally.addRows(log, { from, to: this.#wantedOf(number) });
    }
    this.#addCounts([], shared.indexed);
  }

  /** The newest entry that a segment has; undefined if there is none. */
  #positionOf(number: number): Seq | undefined {
    const segment = this.#segments.get(number);
    return segment?.record?.last ?? segment?.writer?.position;
  }

  #addCounts(counts: readonly RoomCount[], until: Seq): void {
    this.#tally.addCounts(counts);
    this.#shared.counts = { until, counts: this.#tally.counts() };
  }

  #newestWriter(): SegmentWriter | undefined {
    const { shared } = this.#context;
    const newest = this.#segments.get(this.#newest);
    const isDone = newest?.record !== undefined || newest?.writer?.isFull === true;
    if (isDone && shared.head <= this.#shared.lastOf(this.#newest)) return undefined;
    if (isDone) this.#newest += 1;
    return this.#writerOf(this.#newest);
  }

  #writerOf(number: number): SegmentWriter {
    const segment = this.#segments.get(number) ?? {
      writer: undefined,
      record: undefined,
      isVerified: true,
    };
    this.#segments.set(number, segment);
    segment.writer ??= new SegmentWriter(this.#context, number);
    return segment.writer;
  }

  #step(writer: SegmentWriter, to: Seq): readonly RoomCount[] {
    try {
      const counts = writer.step(to);
      this.#publishComplete(writer);
      return counts;
    } catch (error) {
      // The writer's memory may be ahead of its file, and the file may be another.
      this.#shared.withdraw(writer.number);
      this.#closeWriter(writer.number);
      if (error instanceof SpoiledFile || isCorrupt(error))
        this.#replace(writer.number, error as Error);
      else this.#reopen(writer.number);
      throw error;
    }
  }

  /** Readers go on with what is stored, such as on a full disk. */
  #reopen(number: number): void {
    try {
      this.#publishComplete(this.#writerOf(number));
    } catch (error) {
      // The next step opens it.
      assertStorageFault(error);
    }
  }

  /** Lets readers use the segment once it has all that they look for in it. */
  #publishComplete(writer: SegmentWriter): void {
    const { number, position } = writer;
    if (position < this.#wantedOf(number)) return;
    if (this.#shared.state(number) !== undefined) return;
    writer.publish();
    this.#published(number);
  }

  #published(number: number): void {
    this.#waiting.get(number)?.resolve();
    this.#waiting.delete(number);
  }

  #nextJob(): Job | undefined {
    for (let number = this.#newest; number >= 0; number -= 1) {
      const segment = this.#segments.get(number);
      if (segment?.writer?.isFull === true) return { number, steps: this.#seal(number) };
      if (segment?.isVerified === false) return { number, steps: this.#publish(number) };
      if ((this.#positionOf(number) ?? 0) < this.#wantedOf(number))
        return { number, steps: this.#make(number) };
    }
    return undefined;
  }

  /** The newest entry that readers look for in a segment. */
  #wantedOf(number: number): Seq {
    return Math.min(this.#shared.lastOf(number), this.#context.shared.indexed);
  }

  async *#make(number: number): Steps {
    const writer = this.#writerOf(number);
    while (writer.position < this.#wantedOf(number)) {
      this.#step(writer, this.#wantedOf(number));
      yield;
    }
  }

  async *#seal(number: number): Steps {
    const record = yield* this.#writerOf(number).seal(() => this.#closeWriter(number));
    this.#segments.set(number, { writer: undefined, record, isVerified: true });
  }

  /** Lets readers use a sealed segment once it was checked. */
  async *#publish(number: number): Steps {
    const segment = this.#segments.get(number);
    if (segment?.record === undefined) return;
    const fingerprint = fingerprintOf(statOf(indexFile(this.#context.paths, number)));
    yield* verifyRecorded(this.#context.paths, number, segment.record);
    segment.isVerified = true;
    this.#shared.publish(number, fingerprint, 'sealed');
    this.#published(number);
  }

  /** A sealed segment that was merely touched is right if its checksum is. */
  #removeSpoiled(): void {
    for (const { number, generation, isCorrupt: isWrong } of this.#spoiled.values()) {
      if (this.#shared.generation(number) !== generation) {
        // It was made again since.
        if (this.#shared.state(number) !== undefined) this.#published(number);
        continue;
      }
      const segment = this.#segments.get(number);
      const fault = new SpoiledFile(`The segment ${number} was changed by somebody else.`);
      if (segment?.record === undefined || isWrong) this.#replace(number, fault);
      else {
        this.#shared.withdraw(number);
        segment.isVerified = false;
      }
    }
    this.#spoiled.clear();
  }

  #replace(number: number, fault: Error): void {
    this.#context.onSpoiled(causeOf(fault));
    this.#remove(number);
  }

  #remove(number: number): void {
    this.#shared.withdraw(number);
    if (this.#job?.number === number) {
      void this.#job.steps.return();
      this.#job = undefined;
    }
    this.#closeWriter(number);
    this.#segments.delete(number);
    removeSegment(this.#context.paths, number);
  }

  #closeWriter(number: number): void {
    const segment = this.#segments.get(number);
    const writer = segment?.writer;
    if (segment !== undefined) segment.writer = undefined;
    writer?.close();
  }
}
