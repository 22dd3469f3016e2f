/**
 * Brings a backup of a log up to date, beside a gateway that may be running. A backup is a data folder with
 * everything that the log had when the backup began, and a file that says so (`description.ts`).
 *
 * Owns what makes a backup count: every entry was verified by its link, everything is flushed, and nothing is
 * left of what was withheld. What the log has lost since an earlier backup stays in the backup. An
 * interruption at any point loses nothing that the backup had: the next one goes on from what is there.
 *
 * Invariant: A backup has every entry, whichever copies of the log it was brought up to date from.
 * Test: `test/backup/backup.test.ts` “may be brought up to date from another copy of the log” “has
 *   what the log has lost since the one before, and names it where it has not” “tells by its
 *   verification of any byte that has changed”
 * Test: `test/backup/kill.test.ts` “a backup that is killed at any moment keeps what it had, and
 *   the next one completes it”
 * Test: `test/backup/withheld.test.ts` “has nothing of what they said, and restores to a log that
 *   says when and why”
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Seq } from '../../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readable, readMeta } from '../database.ts';
import { lockFile } from '../lock-file.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { openLogForReading, openLogIfExists, rollBackJournal } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { plainDatabase } from '../plain-file.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { faultOf, verifyEntries, type VerifyEvent } from '../log/verify.ts';
import { writeChecked } from '../checked-file.ts';
import { countDecided } from '../withholding/withheld-table.ts';
import { BackupLog } from './backup-log.ts';
import { assertPlainFolders, copyLarge, copyNotices } from './copy-files.ts';
import { type BackupDescription, digestOf, readComplete, readDescription } from './description.ts';

export interface BackupOptions {
  /** Verifies only what the backup did not have before. */
  readonly quick?: boolean | undefined;
}

interface Amounts {
  readonly added: number;
  /** Entries that had changed in the backup, and were copied again. */
  readonly replaced: number;
  readonly copied: number;
}

export interface BackupReport extends BackupDescription, Amounts {
  readonly folder: string;
}

/** Entries that are copied in one transaction. */
const PAGE_ENTRIES = 4096;
/** A gateway that runs lists some of them within less. */
const MAX_LISTING_MS = 30_000;
const LISTING_POLL_MS = 100;
const NOTHING = { head: 0, entries: 0, bytes: 0, faults: 0, isCopy: false, sha256: undefined };

/** Yields faults and progress. Throws where there is no log, or the folder is anything but a backup of it. */
export async function* backUpLog(
  data: string,
  folder: string,
  { quick = false }: BackupOptions = {},
): AsyncGenerator<VerifyEvent, BackupReport, undefined> {
  const made = new Date().toISOString();
  const source = dataPathsIn(resolve(data));
  using sourceDb = openLogForReading(source);
  readComplete(source);
  const target = dataPathsIn(resolve(folder));
  makeFolder(target.folder);
  if (realpathSync(target.folder) === realpathSync(source.folder))
    throw new Error(`"${folder}" is the data folder itself: a backup needs a folder of its own.`);
  using _lock = lockFile(
    plainDatabase(target.folder, basename(target.lock)),
    existsSync(target.backup)
      ? `Another backup is being made in "${folder}".`
      : `A gateway is using "${folder}": a backup needs a folder of its own.`,
  );
  const log = String(readMeta(sourceDb, 'name'));
  const earlier = readEarlier(target, log) ?? { ...NOTHING, log };
  plainDatabase(target.folder, basename(target.log));
  assertPlainFolders(target);
  rollBackJournal(target);
  refuseOther(target, sourceDb);
  const isSound = earlier.faults === 0 && (await isUnchanged(target, earlier.sha256));
  writeChecked(target.backup, { ...earlier, made, sha256: undefined });
  mkdirSync(target.large, { recursive: true });
  let sha256 = isSound ? earlier.sha256 : undefined;
  const update = new Update({ db: sourceDb, paths: source }, target);
  const { hasChanged, amounts, ...found } = yield* update.make({ ...earlier, isSound, quick });
  await copyNotices(source, target);
  flushFolder(target.folder);
  if (hasChanged || sha256 === undefined) sha256 = await digestOf(target.log);
  const description = { log, made, ...found, sha256 };
  writeChecked(target.backup, description);
  return { ...description, ...amounts, folder: target.folder };
}

/** Undefined where the folder has nothing yet. */
function readEarlier(target: DataPaths, log: string): BackupDescription | undefined {
  const earlier = readDescription(target);
  if (earlier === undefined && existsSync(target.log))
    throw new Error(
      `"${target.folder}" has a log that is no backup, such as one that a gateway was started on. Choose another folder.`,
    );
  if (earlier !== undefined && earlier.log !== log)
    throw new Error(
      `"${target.folder}" is a backup of the log ${earlier.log}, and this one is ${log}. Choose another folder.`,
    );
  return earlier;
}

/** Throws where the newest entry of the backup is not the log's. */
function refuseOther(target: DataPaths, sourceDb: DatabaseSync): void {
  using db = openLogIfExists(target);
  if (db === undefined) return;
  const [backup, source] = [new RowReader(db), new RowReader(sourceDb)];
  const head = source.lastSeq();
  for (let seq = backup.lastSeq(); seq > 0; seq -= 1) {
    const link = readable(() => backup.linkAt(seq));
    const other = seq > head ? 'none' : readable(() => source.linkAt(seq));
    // Where one of them cannot be read, the entry before tells.
    if (link === undefined || other === undefined) continue;
    if (link === other) return;
    const end = seq > head ? `, which ends with entry ${head}` : '';
    throw new Error(
      `"${target.folder}" has another entry ${seq} than the log has${end}. Keep it, since it may have what the log has lost, and choose another folder.`,
    );
  }
}

/** Whether `log.sqlite` is still what the last backup wrote. An interrupted backup has no checksum. */
async function isUnchanged({ log }: DataPaths, sha256: string | undefined): Promise<boolean> {
  if (!existsSync(log)) return sha256 === undefined;
  return sha256 !== undefined && (await digestOf(log)) === sha256;
}

/** Waits until the table `withheld` has all withheld entries. Throws if no gateway adds them. */
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

interface Source {
  readonly db: DatabaseSync;
  readonly paths: DataPaths;
}

interface Earlier extends Omit<BackupDescription, 'made'> {
  /** Whether the backup is still what was written, without faults. If so, only new entries are copied. */
  readonly isSound: boolean;
  readonly quick: boolean;
}

interface Found extends Omit<BackupDescription, 'log' | 'made' | 'sha256'> {
  readonly amounts: Amounts;
  readonly hasChanged: boolean;
}

class Update {
  readonly #source: Source;
  readonly #sourceReader: RowReader;
  readonly #target: DataPaths;
  readonly #faults = new Map<Seq, string>();
  #replaced = 0;
  #copied = 0;

  constructor(source: Source, target: DataPaths) {
    this.#source = source;
    this.#sourceReader = new RowReader(source.db);
    this.#target = target;
  }

  async *make(earlier: Earlier): AsyncGenerator<VerifyEvent, Found> {
    const { db, paths } = this.#source;
    using log = new BackupLog(this.#target, paths, earlier.log);
    if (!earlier.isSound) log.rebuildIndexes();
    const before = log.reader.lastSeq();
    const { head, link, isSound, quick } = earlier;
    const isKept = isSound && quick && link !== undefined;
    const verified = isKept ? { seq: head, link: Buffer.from(link, 'hex') } : undefined;
    const verifier = new ChainVerifier(this.#target, verified);
    let [from, isCopy] = [isSound ? before + 1 : 1, false];
    do {
      await untilListed(db);
      const end = log.begin();
      ({ isCopy } = end);
      for (const seq of end.withheld) this.#faults.set(seq, 'is withheld, but cannot be read');
      yield* this.#copy(log, from, end.head);
      from = end.head + 1;
      yield* this.#verify(log, verifier, end.head);
      // What was withheld meanwhile may be in the backup as it was before.
    } while (log.isBehind() || countDecided(db) > 0);
    for (const [seq, description] of this.#faults) yield { type: 'fault', seq, description };
    const last = log.reader.lastSeq();
    const newest = readable(() => log.reader.entry(last));
    return {
      head: last,
      link: newest?.link.toString('hex'),
      timestamp: newest && new Date(newest.time).toISOString(),
      entries: (isKept ? earlier.entries : 0) + verifier.entries,
      bytes: (isKept ? earlier.bytes : 0) + verifier.bytes,
      faults: this.#faults.size,
      isCopy,
      amounts: { added: last - before, replaced: this.#replaced, copied: this.#copied },
      hasChanged: log.hasChanged(),
    };
  }

  async *#copy(log: BackupLog, from: Seq, head: Seq): AsyncGenerator<VerifyEvent> {
    for (let at = from; at <= head; at += PAGE_ENTRIES) {
      const span = { from: at, to: Math.min(head, at + PAGE_ENTRIES - 1) };
      log.copy(span, 'IGNORE');
      await this.#copyLarge(log.largeNames(span), false);
      yield { type: 'progress', entries: span.to, bytes: 0, at: span.to, head };
    }
  }

  async #copyLarge(names: readonly string[], all: boolean): Promise<void> {
    const task = { source: this.#source.paths, target: this.#target, all };
    for (const name of names) this.#copied += await copyLarge(name, task);
  }

  /** Copies what has a fault in the backup again, where it has none in the log. */
  async *#verify(log: BackupLog, verifier: ChainVerifier, head: Seq): AsyncGenerator<VerifyEvent> {
    const task = { paths: this.#target, verifier, head, signal: undefined };
    for await (const event of verifyEntries(log.reader, task)) {
      if (event.type === 'progress') yield event;
      else this.#faults.set(event.seq ?? 0, event.description);
    }
    if (verifier.next <= head) {
      this.#faults.set(verifier.next, 'is missing, and so are all that follow');
      verifier.skip(head);
    }
    for (const seq of this.#faults.keys())
      if (await this.#isRight(log, seq)) this.#faults.delete(seq);
  }

  async #isRight(log: BackupLog, seq: Seq): Promise<boolean> {
    const isRight = async (): Promise<boolean> =>
      (await faultOf(seq, log.reader, this.#target)) === undefined;
    if (await isRight()) return true;
    const fault = await faultOf(seq, this.#sourceReader, this.#source.paths);
    if (fault !== undefined) return false;
    const span = { from: seq, to: seq };
    log.copy(span, 'REPLACE');
    await this.#copyLarge(log.largeNames(span), true);
    if (!(await isRight())) return false;
    this.#replaced += 1;
    return true;
  }
}
