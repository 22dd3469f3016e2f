/**
 * Backs up the log of a folder, beside a gateway that may be running, into a folder of backups.
 *
 * Owns the form of that folder. A backup is a file that lists segments: folders with consecutive
 * entries, which never change and are shared with earlier backups. What the log has at the start is in
 * the backup. It counts once its file has its name: after every segment was verified by the links of
 * its entries, and flushed. What an interrupted backup leaves is removed by the next one.
 *
 * A segment of the newest backup is used again where the log still has the link that the segment, or
 * one behind it, ends with: then the entries before are the same, since each link depends on all of
 * them. Unless a block of this log reaches across its begin or its end, or entries of it were withheld
 * since: then it is written again, without what they said, and so is one that was written before the end
 * of the backup. The log is read in short transactions, so that its WAL can shrink meanwhile; only what a
 * copy knows of its stream is read in one.
 */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Seq } from '../../../log/log.ts';
import { dataPathsIn } from '../data-paths.ts';
import { isSpoiled, readable, readMeta } from '../database.ts';
import { lockFile } from '../lock-file.ts';
import { BlockReader, type SeqSpan } from '../log/block-reader.ts';
import { FIRST_LINK } from '../log/chain.ts';
import { countDecided } from '../log/decided-withholding.ts';
import { LOG_FORMAT, openLogForReading } from '../log/log-database.ts';
import type { VerifyEvent } from '../log/verify.ts';
import { lastWithheld } from '../log/withheld-table.ts';
import { plainDatabase } from '../plain-file.ts';
import { makeFolder } from '../prepare-folder.ts';
import { backupFiles, type BackupPaths, backupPathsIn, nameBackup } from './backup-folder.ts';
import { type BackupDescription, readManifest, type Segment, writeManifest } from './manifest.ts';
import type { Retention } from './retention.ts';
import { hasWithholdings } from './segment-withholdings.ts';
import {
  describeStreamState,
  removeStreamState,
  type StreamState,
  writeStreamState,
} from './stream-state.ts';
import { removeUnused, thinBackups } from './thin-backups.ts';
import { verifySegment } from './verify-segment.ts';
import { isComplete, type LogSource, withheldFile, writeSegments } from './write-segments.ts';

export interface BackupOptions {
  /** Which backups to keep; all without it. */
  readonly keep?: Retention | undefined;
  /** Verifies only what no earlier backup has. */
  readonly quick?: boolean | undefined;
}

/** A gateway that runs lists some of them within less. */
const MAX_LISTING_MS = 30_000;
const LISTING_POLL_MS = 100;
const NO_LINK = Buffer.from(FIRST_LINK).toString('hex');

export interface BackupReport extends BackupDescription {
  /** The file of the backup. */
  readonly file: string;
  /** Of a copy of a cluster's log: with it, the backup can be restored as a copy. */
  readonly stream: StreamState | undefined;
  /** Bytes that were written, and those of segments that were used again. */
  readonly copied: number;
  readonly reused: number;
  /** Files of earlier backups that were not kept. */
  readonly removed: readonly string[];
}

/**
 * Yields the faults of entries, and the progress. Throws when the folder has no log that this program
 * can read, when another backup is being made, and when the backup cannot be written.
 */
export async function* backUpLog(
  data: string,
  target: string,
  options: BackupOptions = {},
): AsyncGenerator<VerifyEvent, BackupReport, undefined> {
  const paths = backupPathsIn(resolve(target));
  if (existsSync(dataPathsIn(paths.folder).log))
    throw new Error(`"${target}" is a data folder: backups need a folder of their own.`);
  const source = dataPathsIn(resolve(data));
  using db = openLogForReading(source);
  makeFolder(paths.segments);
  using _lock = lockFile(
    plainDatabase(paths.folder, basename(paths.lock)),
    `Another backup is being made in "${target}".`,
  );
  await removeUnused(paths);
  const existing = backupFiles(paths.folder);
  const file = join(paths.folder, nameBackup(existing, Date.now()));
  const earlier = await reusable(existing.at(-1));
  const run = new BackupRun({ db, paths: source }, paths, options);
  try {
    const description = yield* run.make(earlier);
    const { copied, segments } = run;
    const stream = await run.describeStream();
    await writeManifest(file, { ...description, stream, segments });
    const removed = options.keep === undefined ? [] : await thinBackups(paths, options.keep);
    const reused = bytesOfBoth(earlier, segments);
    return { ...description, stream, file, copied, reused, removed };
  } finally {
    await removeUnused(paths);
  }
}

async function reusable(file: string | undefined): Promise<readonly Segment[]> {
  if (file === undefined) return [];
  const { format, segments } = await readManifest(file);
  return format === LOG_FORMAT ? segments : [];
}

function bytesOfBoth(earlier: readonly Segment[], segments: readonly Segment[]): number {
  const names = new Set(earlier.map(({ name }) => name));
  return segments.reduce((sum, { name, bytes }) => sum + (names.has(name) ? bytes : 0), 0);
}

/** Until the table `withheld` has all that is withheld. Throws where no gateway goes on with that. */
async function untilListed(db: DatabaseSync): Promise<void> {
  let progress = performance.now();
  for (let left = countDecided(db); left > 0;) {
    await sleep(LISTING_POLL_MS);
    const now = countDecided(db);
    if (now !== left) progress = performance.now();
    if (performance.now() - progress > MAX_LISTING_MS)
      throw new Error(
        'entries are still being withheld, and no gateway is finishing that. Start the gateway, or free its disk, and try again',
      );
    left = now;
  }
}

class BackupRun {
  /** Ascending, without gaps. */
  segments: Segment[] = [];
  copied = 0;
  readonly #source: LogSource;
  readonly #target: BackupPaths;
  #isQuick: boolean;
  readonly #log: BlockReader;
  #head: Seq = 0;
  /** Of the newest withholding that the backup has. */
  #withheld = 0;
  /** The name of the folder that says where a copy of a cluster's log stands. */
  #stream: string | undefined;
  #totals = { entries: 0, bytes: 0, faults: 0 };

  constructor(source: LogSource, target: BackupPaths, { quick = false }: BackupOptions) {
    this.#source = source;
    this.#target = target;
    this.#isQuick = quick;
    this.#log = new BlockReader(source.db);
  }

  async *make(previous: readonly Segment[]): AsyncGenerator<VerifyEvent, BackupDescription> {
    yield* this.#makeOnce(previous);
    while (this.#isBehind()) {
      // What it has was verified already.
      this.#isQuick = true;
      yield* this.#makeOnce(this.segments);
    }
    return this.#describe();
  }

  /** Undefined where the log is no copy of a cluster's. */
  async describeStream(): Promise<StreamState | undefined> {
    if (this.#stream === undefined) return undefined;
    return await describeStreamState(this.#target, this.#stream);
  }

  /** Whether entries were withheld meanwhile, which the backup may have as they were. */
  #isBehind(): boolean {
    const { db } = this.#source;
    return lastWithheld(db) !== this.#withheld || countDecided(db) > 0;
  }

  /** Everything that the backup is to have, at one moment. */
  #readEnd(): void {
    const { db } = this.#source;
    db.exec('BEGIN');
    try {
      this.#withheld = lastWithheld(db);
      this.#head = this.#log.lastSeq();
      this.#stream = readable(() => writeStreamState(db, this.#target));
    } finally {
      if (db.isTransaction) db.exec('COMMIT');
    }
  }

  async *#makeOnce(previous: readonly Segment[]): AsyncGenerator<VerifyEvent> {
    await untilListed(this.#source.db);
    if (this.#stream !== undefined) await removeStreamState(this.#target, this.#stream);
    this.#readEnd();
    this.#totals = { entries: 0, bytes: 0, faults: 0 };
    this.segments = [];
    let next: Seq = 1;
    for (const segment of this.#unchanged(previous)) {
      yield* this.#copy({ from: next, to: segment.from - 1 });
      yield* this.#reuse(segment);
      next = segment.to + 1;
    }
    yield* this.#copy({ from: next, to: this.#head });
  }

  /** Those that need not be copied again. */
  #unchanged(previous: readonly Segment[]): Segment[] {
    const last = previous.findLast(({ to, link }) => this.#hasLink(to, link));
    if (last === undefined) return [];
    const isSame = (segment: Segment): boolean => segment.to <= last.to && segment.faults === 0;
    // A small one at the end is written again, with what came after it.
    const isEnough = (segment: Segment): boolean =>
      segment.to < last.to || segment.to === this.#head || isComplete(segment);
    const { db } = this.#source;
    return previous.filter(
      (segment) =>
        isSame(segment) &&
        isEnough(segment) &&
        this.#mayBegin(segment.from) &&
        this.#mayBegin(segment.to + 1) &&
        hasWithholdings(db, segment, withheldFile(this.#target, segment)),
    );
  }

  /**
   * Whether no block of the log reaches across this place: a backup may have been made of another copy, of
   * which the entries are the same, but not how they are divided into blocks.
   */
  #mayBegin(seq: Seq): boolean {
    const first = readable(() => this.#log.firstInBlock(seq));
    return first === undefined || first === seq;
  }

  #hasLink(seq: Seq, link: string | undefined): boolean {
    if (link === undefined) return false;
    try {
      return this.#log.linkAt(seq) === link;
    } catch (error) {
      if (isSpoiled(error)) return false;
      throw error;
    }
  }

  async *#copy(span: SeqSpan): AsyncGenerator<VerifyEvent> {
    if (span.from > span.to) return;
    for await (const written of writeSegments(this.#source, span, this.#target)) {
      this.copied += written.bytes;
      const { segment, faults } = await verifySegment(this.#target, written, this.#lastLink());
      // Where something was withheld meanwhile, the entry is copied again.
      if (!this.#isBehind()) for (const fault of faults) yield { type: 'fault', ...fault };
      yield this.#add(segment);
    }
  }

  /** Copies it again if its files are no longer what was written. */
  async *#reuse(segment: Segment): AsyncGenerator<VerifyEvent> {
    if (!this.#isQuick) {
      const { faults } = await verifySegment(this.#target, segment, this.#lastLink());
      if (faults.length > 0) {
        yield* this.#copy(segment);
        return;
      }
    }
    yield this.#add(segment);
  }

  /** Undefined where it is unknown. */
  #lastLink(): string | undefined {
    return this.segments.length === 0 ? NO_LINK : this.segments.at(-1)?.link;
  }

  #add(segment: Segment): VerifyEvent {
    this.segments.push(segment);
    const totals = this.#totals;
    totals.entries += segment.entries;
    totals.bytes += segment.bytes;
    totals.faults += segment.faults;
    return { type: 'progress', ...totals, at: segment.to, head: this.#head };
  }

  #describe(): BackupDescription {
    const { link, time } = this.segments.at(-1) ?? { link: NO_LINK, time: undefined };
    return {
      format: LOG_FORMAT,
      log: String(readMeta(this.#source.db, 'name')),
      head: this.#head,
      link,
      timestamp: time === undefined ? undefined : new Date(time).toISOString(),
      ...this.#totals,
    };
  }
}
