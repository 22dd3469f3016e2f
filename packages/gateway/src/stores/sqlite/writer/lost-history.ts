/**
 * Finds out whether a log has lost entries, or is another log than the one that the rest of its
 * folder was made with: its WAL was removed or cut, or `log.sqlite` comes from an older backup.
 *
 * The evidence is what other files know of the log: `last-commit` and the position of the index. Neither
 * is ever ahead of an intact log.
 *
 * A start refuses such a log, or, once the operator has accepted the loss, moves all evidence of it aside.
 * A log that goes on gives lost seqs to other entries, so it gets a new name, by which readers with older
 * cursors notice (PROTOCOL.md section 8.2).
 *
 * Invariant: A log that has lost entries, or is another one, is not served before the operator has
 *   been asked.
 * Test: `test/crash/lost-history.test.ts` “… is refused, changes nothing, and goes on once the loss
 *   is accepted”
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { assertStorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { openForReading, readMeta } from '../database.ts';
import { readState } from '../index/index-database.ts';
import { flushWal, openLogForWriting, openLogIfExists, renameLog } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';
import { flushFolder } from '../prepare-folder.ts';
import { type LogPosition, readLastCommit } from './last-commit.ts';

interface LostHistory {
  /** Where the log ends now; undefined where there is none. */
  readonly end: LogPosition | undefined;
  /** The newest seq of this log that there is evidence of; 0 where it is unknown. */
  readonly knownSeq: Seq;
  /** Each completes a sentence that begins with “The log”. */
  readonly findings: readonly string[];
}

interface KnownPosition extends LogPosition {
  readonly file: string;
}

export interface AcceptedLoss {
  readonly findings: readonly string[];
  /** How many entries are given up, undefined where it is unknown. */
  readonly lost: number | undefined;
  readonly folder: string;
}

/** Throws where history is lost and `accept` is false. Changes no entry then. */
export function checkHistory(paths: DataPaths, accept: boolean): AcceptedLoss | undefined {
  const history = findLostHistory(paths);
  if (history === undefined) return undefined;
  const description = describeLoss(paths, history);
  if (!accept) throw new Error(`${description}\n${adviceFor(paths)}`);
  const folder = join(paths.folder, `lost-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(join(folder, 'large'), { recursive: true });
  writeFileSync(join(folder, 'report.txt'), `${description}\n`);
  moveAside(paths, folder, history);
  return { findings: history.findings, lost: countLost(history), folder };
}

/** Undefined if all files agree. Changes nothing. Throws where the log cannot be read. */
export function findLostHistory(paths: DataPaths): LostHistory | undefined {
  // Before the log: a running gateway may commit in between.
  const known = knownPositions(paths);
  using db = openLogIfExists(paths);
  const end = db && readEnd(db);
  const contradicting = known.filter((position) => !isOf(db, end, position));
  const findings = contradicting.map((position) => describePosition(db, end, position));
  const wal = `${paths.log}-wal`;
  // A file without tables is what an interrupted first start leaves: it has them, flushed, before the WAL
  // has an entry.
  if (!existsSync(paths.log) && (statSync(wal, { throwIfNoEntry: false })?.size ?? 0) > 0)
    findings.push(`is not there, but its newest commits are, in ${basename(wal)}`);
  if (findings.length === 0) return undefined;
  const own = contradicting.filter(({ log }) => end === undefined || log === end.log);
  return { end, knownSeq: Math.max(0, ...own.map(({ seq }) => seq)), findings };
}

/** The files of bodies in this folder that no entry has. */
function* orphansIn(folder: string, db: DatabaseSync | undefined): Generator<string> {
  for (const file of readdirSync(folder, { withFileTypes: true })) {
    const [name = ''] = file.name.split('.', 1);
    if (file.isFile() && !(db !== undefined && hasLarge(db, name))) yield join(folder, file.name);
  }
}

/** Also where that cannot be read. */
function hasLarge(db: DatabaseSync, name: string): boolean {
  try {
    return new RowReader(db).hasLarge(name);
  } catch (error) {
    assertStorageFault(error);
    return true;
  }
}

/** The folders in which large files have their final place. */
function largeFolders(paths: DataPaths): string[] {
  if (!existsSync(paths.large)) return [];
  const names = readdirSync(paths.large).map((name) => join(paths.large, name));
  return names.filter((path) => statSync(path).isDirectory());
}

function knownPositions(paths: DataPaths): KnownPosition[] {
  const positions = [
    { file: paths.lastCommit, position: readLastCommit(paths) },
    { file: paths.index, position: readIndexPosition(paths) },
  ];
  return positions.flatMap(({ file, position }) =>
    position === undefined || position.seq === 0
      ? []
      : [{ file: relative(paths.folder, file), ...position }],
  );
}

/** How far the index has come; undefined if there is none that can be read. */
function readIndexPosition({ index }: DataPaths): LogPosition | undefined {
  try {
    using db = openForReading(index);
    const { log, position: seq, link } = readState(db) ?? {};
    return log === undefined ? undefined : { log, seq: seq ?? 0, link: link ?? undefined };
  } catch (error) {
    assertStorageFault(error);
    return undefined;
  }
}

function readEnd(db: DatabaseSync): LogPosition {
  const seq = new RowReader(db).lastSeq();
  return { log: String(readMeta(db, 'name')), seq, link: readLink(db, seq) };
}

/** In hex. Undefined without an entry; empty if the entry cannot be read. */
function readLink(db: DatabaseSync, seq: Seq): string | undefined {
  try {
    return new RowReader(db).linkAt(seq);
  } catch (error) {
    assertStorageFault(error);
    return '';
  }
}

/** Whether the log has come to this position. */
function isOf(
  db: DatabaseSync | undefined,
  end: LogPosition | undefined,
  { log, seq, link }: LogPosition,
): boolean {
  if (db === undefined || log !== end?.log || seq > end.seq) return false;
  return link === undefined || [link, ''].includes(readLink(db, seq) ?? 'none');
}

function describePosition(
  db: DatabaseSync | undefined,
  end: LogPosition | undefined,
  { file, log, seq }: KnownPosition,
): string {
  if (db === undefined || end === undefined)
    return `is not there, but ${file} knows of its entry ${seq}`;
  if (log !== end.log) return `is ${end.log}, but ${file} knows of entry ${seq} of the log ${log}`;
  if (seq > end.seq) return `ends with entry ${end.seq}, but ${file} knows of entry ${seq}`;
  if (readLink(db, seq) === undefined) return `lacks entry ${seq}, which ${file} knows of`;
  return `has another entry ${seq} than the one that ${file} knows of`;
}

const adviceFor = ({ folder }: DataPaths): string =>
  `Nothing has been changed. Either put back what is missing: log.sqlite together with its log.sqlite-wal, or everything from the newest backup into an empty folder. Or go on without the lost entries: run once: presence accept loss --data "${folder}"
It moves what is known of them to a folder "lost-…" beside the log, and the log gets a new name, since other entries will have their numbers.`;

function describeLoss({ folder }: DataPaths, history: LostHistory): string {
  const { end, findings } = history;
  const lost = countLost(history);
  const cause =
    end === undefined
      ? 'Probably log.sqlite was removed.'
      : 'Probably log.sqlite-wal was removed, cut or changed, or log.sqlite was replaced by an older one or by another.';
  return [
    `The log in "${folder}" has lost entries, or is another log than before. It`,
    ...findings.map((finding) => `  - ${finding}`),
    cause,
    lost === undefined
      ? 'It is unknown how many entries are lost.'
      : `Lost: ${lost === 1 ? 'one entry' : `${lost} entries`}, from ${(end?.seq ?? 0) + 1} to ${history.knownSeq}, or more.`,
  ].join('\n');
}

function countLost({ end, knownSeq }: LostHistory): number | undefined {
  const lost = knownSeq - (end?.seq ?? 0);
  return lost > 0 ? lost : undefined;
}

/** The log's name changes first: if the start is interrupted after that, the next one asks again. */
function moveAside(paths: DataPaths, folder: string, { end }: LostHistory): void {
  const wal = `${paths.log}-wal`;
  if (existsSync(wal)) {
    if (end === undefined) renameSync(wal, join(folder, basename(wal)));
    else copyFileSync(wal, join(folder, basename(wal)));
  }
  {
    using db = openLogForWriting(paths);
    flushWal(db);
    renameLog(db);
    for (const large of largeFolders(paths))
      for (const file of orphansIn(large, db))
        renameSync(file, join(folder, 'large', basename(file)));
  }
  const databases = [paths.keys, paths.index].flatMap((file) => [
    file,
    `${file}-wal`,
    `${file}-shm`,
  ]);
  for (const path of [...databases, paths.lastCommit]) {
    if (existsSync(path)) renameSync(path, join(folder, basename(path)));
  }
  for (const changed of [join(folder, 'large'), folder, paths.folder]) flushFolder(changed);
}
