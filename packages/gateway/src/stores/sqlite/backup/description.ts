/**
 * The file `backup.json`, by which a folder is a backup. It describes what the backup has, and covers by a
 * checksum what no link covers. It is written when a backup begins, without that checksum, and again when
 * the backup is complete.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { LOG_FORMAT } from '../log/log-database.ts';
import { openRegular, plainFile } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';

export interface BackupDescription {
  /** The format of the log. */
  readonly format: number;
  /** The id of the log. */
  readonly log: string;
  /** The newest entry in the backup. */
  readonly head: Seq;
  /** Of that entry, in hex; undefined where it cannot be read. */
  readonly link?: string | undefined;
  /** RFC 3339, of the newest entry; undefined without one that can be read. */
  readonly timestamp?: string | undefined;
  /** Entries that can be read. */
  readonly entries: number;
  readonly bytes: number;
  /** How many entries have changed, are lost, or cannot be read. */
  readonly faults: number;
  /** Whether the log is a copy of a cluster's, and can be restored as one. */
  readonly isCopy: boolean;
  /** RFC 3339, of when the backup began. */
  readonly made: string;
  /** SHA-256 of `log.sqlite`, in hex. Undefined from the beginning of a backup to its end. */
  readonly sha256?: string | undefined;
}

/** Nothing that would control a terminal: anyone can make a backup, and what it says is printed. */
const PRINTABLE = /^[\w:.+-]*$/;

/** Undefined where the folder is no backup. Throws where the file is not what was written. */
export function readDescription(paths: DataPaths): BackupDescription | undefined {
  if (!existsSync(paths.backup)) return undefined;
  const text = readFileSync(plainFile(paths.folder, basename(paths.backup)), 'utf8');
  const description = descriptionIn(text);
  if (description === undefined) throw new Error(`"${paths.backup}" is not what was written.`);
  if (description.format !== LOG_FORMAT)
    throw new Error(
      `"${paths.folder}" is a backup of a log of format ${description.format}, and this program writes ${LOG_FORMAT}. Use the version that made it.`,
    );
  return description;
}

function descriptionIn(text: string): BackupDescription | undefined {
  try {
    const { checksum: _, ...members } = JSON.parse(text) as Record<string, unknown>;
    const isPrintable = Object.values(members).every((value) => PRINTABLE.test(String(value)));
    const description = members as unknown as BackupDescription;
    return isPrintable && textOf(description) === text ? description : undefined;
  } catch {
    return undefined;
  }
}

function textOf(description: BackupDescription): string {
  const checksum = createHash('sha256').update(JSON.stringify(description)).digest('hex');
  return `${JSON.stringify({ ...description, checksum }, undefined, 2)}\n`;
}

/** Takes the place of the file at once, flushed before, and the folder after. */
export async function writeDescription(
  paths: DataPaths,
  description: BackupDescription,
): Promise<void> {
  const unfinished = `${paths.backup}.unfinished`;
  {
    await using handle = await open(unfinished, 'w');
    await handle.writeFile(textOf(description));
    await handle.sync();
  }
  await rename(unfinished, paths.backup);
  flushFolder(paths.folder);
}

/** Why the backup does not count; undefined if it does. */
export function unfinishedReason(
  { folder }: DataPaths,
  { sha256, head, timestamp = 'no entry' }: BackupDescription,
): string | undefined {
  if (sha256 !== undefined) return undefined;
  return `a backup is being made in "${folder}", or was interrupted. The next one goes on with it. It has at least what the backup before had, up to entry ${head} (${timestamp}).`;
}

/** In hex. */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await using handle = await openRegular(path);
  await pipeline(handle.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** Whether the file is what an earlier backup has written. One that was interrupted has no checksum. */
export async function isUnchanged(log: string, sha256: string | undefined): Promise<boolean> {
  if (!existsSync(log)) return sha256 === undefined;
  return sha256 !== undefined && (await digestOfFile(log)) === sha256;
}
