/**
 * Brings a backup of a log up to date, beside a gateway that may be running. A backup is a data folder with
 * everything that the log had when the backup began, and a file that says so (`description.ts`).
 *
 * Owns what makes a backup count: every entry was verified by its link, everything is flushed, and nothing is
 * left of what was withheld. What the log has lost since an earlier backup stays in the backup. An
 * interruption at any point loses nothing that the backup had: the next one goes on from what is there.
 */
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Seq } from '../../../log/log.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { readable, readMeta } from '../database.ts';
import { lockFile } from '../lock-file.ts';
import { RowReader } from '../log/row-reader.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { countDecided } from '../withholding/decided-withholding.ts';
import { EntryVerifier } from '../log/entry-verifier.ts';
import { LastCommitFile } from '../writer/last-commit.ts';
import {
  LOG_FORMAT,
  openLogForReading,
  openLogIfExists,
  rollBackJournal,
} from '../log/log-database.ts';
import { OTHER_FACETS, verifyEntries, type VerifyEvent } from '../repair/verify.ts';
import { plainDatabase } from '../plain-file.ts';
import { flushFolder, makeFolder } from '../prepare-folder.ts';
import { BackupLog, type SourceEnd } from './backup-log.ts';
import {
  assertPlainFolders,
  changedFacets,
  FileCopier,
  largeNames,
  storeDigest,
} from './copy-files.ts';
import {
  type BackupDescription,
  digestOfFile,
  isUnchanged,
  readDescription,
  unfinishedReason,
  writeDescription,
} from './description.ts';

export interface BackupOptions {
  /** Verifies only what the backup did not have before. */
  readonly quick?: boolean | undefined;
}

export interface BackupReport extends BackupDescription {
  readonly folder: string;
  /** Entries that were added. */
  readonly added: number;
  /** Entries that had changed in the backup, and were copied again. */
  readonly replaced: number;
  /** Bytes of large files that were copied. */
  readonly copied: number;
}

/** A gateway that runs lists some of them within less. */
const MAX_LISTING_MS = 30_000;
const LISTING_POLL_MS = 100;

/**
 * Yields the faults of entries, and the progress. Throws when `data` has no log that this program can read,
 * when the folder is anything but a backup of that log, and when it cannot be written.
 */
export async function* backUpLog(
  data: string,
  folder: string,
  { quick = false }: BackupOptions = {},
): AsyncGenerator<VerifyEvent, BackupReport, undefined> {
  const made = new Date().toISOString();
  const source = dataPathsIn(resolve(data));
  using sourceDb = openLogForReading(source);
  refuseUnfinished(source);
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
  const { sha256, ...earlier } = { ...readEarlier(target, log), made };
  plainDatabase(target.folder, basename(target.log));
  assertPlainFolders(target);
  rollBackJournal(target);
  refuseOther(target, sourceDb);
  const isSound = earlier.faults === 0 && (await isUnchanged(target.log, sha256));
  await writeDescription(target, earlier);
  rmSync(target.incoming, { recursive: true, force: true });
  mkdirSync(target.incoming, { recursive: true });
  let report: BackupReport;
  let isSame: boolean;
  {
    using backup = new BackupLog(target, source, log);
    const run = new BackupRun({ db: sourceDb, paths: source }, { log: backup, paths: target });
    if (!isSound && sha256 !== undefined) yield* run.rebuild();
    report = yield* run.make(earlier, { isSound, quick });
    isSame = isSound && !backup.hasChanged();
  }
  return await finish(target, report, isSame ? sha256 : undefined);
}

/** Flushes the backup, and makes it count. `unchanged`: the checksum of its log, if that has not changed. */
async function finish(
  target: DataPaths,
  report: BackupReport,
  unchanged: string | undefined,
): Promise<BackupReport> {
  const { folder, added, replaced, copied, ...description } = report;
  const { log, head, link } = description;
  rmSync(target.lastCommit, { force: true });
  if (link !== undefined) {
    using lastCommit = new LastCommitFile(target, log);
    lastCommit.write(head, Buffer.from(link, 'hex'));
    if (lastCommit.fault !== undefined) throw lastCommit.fault;
  }
  flushFolder(target.folder);
  const sha256 = unchanged ?? (await digestOfFile(target.log));
  await writeDescription(target, { ...description, sha256 });
  return { ...description, sha256, folder, added, replaced, copied };
}

/** Of a folder that is no backup yet, one without entries. */
function readEarlier(target: DataPaths, log: string): BackupDescription {
  const earlier = readDescription(target);
  if (earlier === undefined && existsSync(target.log))
    throw new Error(
      `"${target.folder}" has a log that is no backup, such as one that a gateway was started on. Choose another folder.`,
    );
  if (earlier !== undefined && earlier.log !== log)
    throw new Error(
      `"${target.folder}" is a backup of the log ${earlier.log}, and this one is ${log}. Choose another folder.`,
    );
  const none = { head: 0, entries: 0, bytes: 0, faults: 0, isCopy: false, made: '' };
  return earlier ?? { format: LOG_FORMAT, log, ...none };
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

function refuseUnfinished(source: DataPaths): void {
  const description = readDescription(source);
  const reason = description && unfinishedReason(source, description);
  if (reason !== undefined) throw new Error(reason);
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

interface LogSource {
  readonly db: DatabaseSync;
  readonly paths: DataPaths;
}

interface LogTarget {
  readonly log: BackupLog;
  readonly paths: DataPaths;
}

interface Starting {
  /** Whether the backup is what was written, without faults: then only what is new is looked for. */
  readonly isSound: boolean;
  readonly quick: boolean;
}

class BackupRun {
  readonly #source: LogSource;
  readonly #sourceReader: RowReader;
  readonly #target: DataPaths;
  readonly #log: BackupLog;
  readonly #files: FileCopier;
  #verifier: ChainVerifier;
  #added = 0;
  #replaced = 0;
  #faults = 0;
  /** Entries to be verified by themselves: their withholding is new, or came when they were verified. */
  #single: Seq[] = [];

  constructor(source: LogSource, { log, paths: target }: LogTarget) {
    this.#source = source;
    this.#sourceReader = new RowReader(source.db);
    this.#target = target;
    this.#log = log;
    this.#files = new FileCopier(
      { source: source.paths, target, isForeign: false },
      (file, digest) => storeDigest(log.db, file, digest),
    );
    this.#verifier = new ChainVerifier(target);
  }

  /** Of a file that is not what was written, only its entries can be verified. */
  *rebuild(): Generator<VerifyEvent> {
    const fault = this.#log.rebuildIndexes();
    if (fault === undefined) return;
    this.#faults += 1;
    const description = `log.sqlite of the backup has lost its form (${fault}): make a new one in another folder`;
    yield { type: 'fault', seq: undefined, description };
  }

  async *make(
    earlier: BackupDescription,
    { isSound, quick }: Starting,
  ): AsyncGenerator<VerifyEvent, BackupReport> {
    const { head, link } = earlier;
    const before = isSound && quick && link !== undefined ? earlier : undefined;
    if (before !== undefined && link !== undefined)
      this.#verifier = new ChainVerifier(this.#target, {
        seq: head,
        link: Buffer.from(link, 'hex'),
      });
    let files = isSound ? head : 0;
    let end: SourceEnd;
    do {
      await untilListed(this.#source.db);
      end = this.#log.begin();
      this.#single.push(...end.withheld);
      const last = this.#log.reader.lastSeq();
      for (const at of this.#log.add({ from: isSound ? last + 1 : 1, to: end.head }))
        yield { type: 'progress', entries: at, bytes: 0, at, head: end.head };
      this.#added += this.#log.reader.lastSeq() - last;
      for (const name of largeNames(this.#log.db, files)) await this.#files.copy(name, false);
      files = end.head;
      yield* this.#verify(end.head);
    } while (this.#isBehind());
    if (before === undefined) yield* this.#verifyFacets();
    this.#files.flush();
    return this.#report({ ...earlier, isCopy: end.isCopy }, before);
  }

  /** Whether the backup may have entries as they were before they were withheld. */
  #isBehind(): boolean {
    return this.#log.isBehind() || countDecided(this.#source.db) > 0;
  }

  async *#verify(head: Seq): AsyncGenerator<VerifyEvent> {
    const verifier = this.#verifier;
    const task = { paths: this.#target, verifier, head, signal: undefined };
    const single = this.#single.splice(0);
    for await (const event of verifyEntries(this.#log.reader, task)) {
      if (event.type === 'progress') yield event;
      else yield* this.#fault(event.seq ?? 0, event.description);
    }
    if (verifier.next <= head) {
      yield* this.#fault(verifier.next, 'is missing, and so are all that follow');
      verifier.skip(head);
    }
    for (const seq of single) {
      const fault = await faultAt(seq, this.#log.reader, this.#target);
      if (fault !== undefined) yield* this.#fault(seq, fault);
    }
  }

  async *#fault(seq: Seq, description: string): AsyncGenerator<VerifyEvent> {
    if (await this.#isReplaced(seq)) return;
    if (this.#isBehind()) {
      this.#single.push(seq);
      return;
    }
    this.#faults += 1;
    yield { type: 'fault', seq, description };
  }

  /** Copies an entry again that is right in the log. */
  async #isReplaced(seq: Seq): Promise<boolean> {
    if ((await faultAt(seq, this.#sourceReader, this.#source.paths)) !== undefined) return false;
    this.#log.replace(seq);
    const name = this.#log.largeName(seq);
    if (name !== undefined) await this.#files.copy(name, true);
    if ((await faultAt(seq, this.#log.reader, this.#target)) !== undefined) return false;
    this.#replaced += 1;
    return true;
  }

  async *#verifyFacets(): AsyncGenerator<VerifyEvent> {
    for await (const { name } of changedFacets(this.#log.db, this.#target))
      await this.#files.copy(name, true);
    for await (const { seq } of changedFacets(this.#log.db, this.#target)) {
      this.#faults += 1;
      yield { type: 'fault', seq, description: OTHER_FACETS };
    }
  }

  /** `before`: what was not verified again. */
  #report(description: BackupDescription, before: BackupDescription | undefined): BackupReport {
    const head = this.#log.reader.lastSeq();
    const last = readable(() => this.#log.reader.entry(head));
    return {
      ...description,
      head,
      link: last?.link.toString('hex'),
      timestamp: last && new Date(last.time).toISOString(),
      entries: (before?.entries ?? 0) + this.#verifier.entries,
      bytes: (before?.bytes ?? 0) + this.#verifier.bytes,
      faults: this.#faults,
      folder: this.#target.folder,
      added: this.#added,
      replaced: this.#replaced,
      copied: this.#files.bytes,
    };
  }
}

/** What is wrong with an entry, by its link and its checksum. */
async function faultAt(seq: Seq, log: RowReader, paths: DataPaths): Promise<string | undefined> {
  const fault = await new EntryVerifier(log, paths).fault(seq);
  if (fault !== undefined) return fault;
  return readable(() => log.entry(seq)?.isWhole) === true ? undefined : OTHER_FACETS;
}
