/**
 * The file of a backup: lines of JSON. The first one describes the backup, one for each segment
 * follows, and the last one has the SHA-256 of all lines before it.
 */
import { createHash } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Seq } from '../../../log/log.ts';
import { openRegular } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { unfinished } from './backup-folder.ts';
import type { StreamState } from './stream-state.ts';

export interface BackupDescription {
  /** The format of the blocks: that of the log. */
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
}

/** Consecutive entries in a folder of their own. */
export interface Segment {
  /** The name of the folder. */
  readonly name: string;
  readonly from: Seq;
  /** Inclusive. */
  readonly to: Seq;
  /** Of all files in it. */
  readonly bytes: number;
  readonly entries: number;
  readonly faults: number;
  /** Of the last entry, in hex; undefined where it cannot be read. */
  readonly link?: string | undefined;
  /** Of the last entry, in ms since 1970. */
  readonly time?: number | undefined;
}

export interface Manifest extends BackupDescription {
  /** Of a copy of a cluster's log. */
  readonly stream?: StreamState | undefined;
  readonly segments: readonly Segment[];
}

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isText =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const HASH = isText(/^[\da-f]{64}$/);
const COUNTS = { entries: isCount, bytes: isCount, faults: isCount, link: optional(HASH) };
const STREAM = { name: isText(/^stream-[\da-f]+$/), bytes: isCount, sha256: HASH };
const DESCRIPTION = {
  ...COUNTS,
  format: isCount,
  log: isText(/^[\w-]+$/),
  head: isCount,
  timestamp: optional(isText(/^[\dTZ:.+-]+$/)),
  stream: optional((value) => hasForm(value, STREAM)),
};
const SEGMENT = {
  ...COUNTS,
  name: isText(/^\d+-[\da-f]+$/),
  from: isCount,
  to: isCount,
  time: optional((value) => typeof value === 'number'),
};

function hasForm(value: unknown, form: Readonly<Record<string, Check>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members = new Map<string, unknown>(Object.entries(value));
  return Object.entries(form).every(([name, check]) => check(members.get(name)));
}

/** Flushed before it has its name, and the folder after. */
export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  const { segments, ...description } = manifest;
  const hash = createHash('sha256');
  const path = unfinished(file);
  {
    await using handle = await open(path, 'wx');
    for (const value of [description, ...segments]) {
      const line = `${JSON.stringify(value)}\n`;
      hash.update(line);
      await handle.writeFile(line);
    }
    await handle.writeFile(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`);
    await handle.sync();
  }
  await rename(path, file);
  flushFolder(dirname(file));
}

/** Throws where the file cannot be read, or is not what was written. */
export async function readManifest(file: string): Promise<Manifest> {
  const hash = createHash('sha256');
  const values: unknown[] = [];
  let last: string | undefined;
  await using handle = await openRegular(file);
  for await (const line of handle.readLines({ autoClose: false })) {
    if (last !== undefined) {
      hash.update(`${last}\n`);
      values.push(JSON.parse(last));
    }
    last = line;
  }
  if (last !== JSON.stringify({ sha256: hash.digest('hex') }) || values.length === 0)
    throw new Error(`"${file}" is not what was written: its checksum is wrong.`);
  const [description, ...segments] = values;
  // Anyone can make a checksum, and what the members say is printed.
  if (!hasForm(description, DESCRIPTION) || !segments.every((segment) => hasForm(segment, SEGMENT)))
    throw new Error(`"${file}" does not have the form of a backup.`);
  return { ...(description as BackupDescription), segments: segments as Segment[] };
}
