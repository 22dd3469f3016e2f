/**
 * What a start does about lost history: refuses to serve, or, once the operator has accepted the
 * loss, moves all evidence of it aside, so that the gateway serves what is there.
 *
 * A log that goes on after a loss gives lost seqs to other entries. It gets a new name, by which
 * readers with older cursors notice (PROTOCOL.md section 8.2).
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { DataPaths } from '../data-paths.ts';
import { flushFolder } from '../prepare-folder.ts';
import { flushWal, openLogForWriting, renameLog } from '../log/log-database.ts';
import { findLostHistory, largeFolders, type LostHistory, orphansIn } from './lost-history.ts';

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
  if (!accept) throw new Error(`${description}\n${ADVICE}`);
  const folder = join(paths.folder, `lost-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(join(folder, 'large'), { recursive: true });
  writeFileSync(join(folder, 'report.txt'), `${description}\n`);
  moveAside(paths, folder, history);
  return { findings: history.findings, lost: countLost(history), folder };
}

const ADVICE = `Nothing has been changed. Either put back what is missing: log.sqlite together with its log.sqlite-wal, or everything from the newest backup into an empty folder. Or go on without the lost entries: start once with --accept-loss. The gateway then moves what it knows of them to a folder "lost-…" beside the log, and the log gets a new name, since other entries will have their numbers.`;

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
    for (const large of [paths.incoming, ...largeFolders(paths)].filter((path) => existsSync(path)))
      for (const file of orphansIn(large, db))
        renameSync(file, join(folder, 'large', basename(file)));
  }
  const keys = ['', '-wal', '-shm'].map((suffix) => paths.keys + suffix);
  for (const path of [...keys, paths.segments, paths.lastCommit]) {
    if (existsSync(path)) renameSync(path, join(folder, basename(path)));
  }
  for (const changed of [join(folder, 'large'), folder, paths.folder]) flushFolder(changed);
}
