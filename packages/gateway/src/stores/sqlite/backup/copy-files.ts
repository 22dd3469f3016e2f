/** Copies the files of large entries from one data folder to another. */
import { constants, existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir, open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isLargeName } from '../log/entry-row.ts';
import { filesOf, finalPath } from '../large/large-files.ts';
import { plainFile, plainFolder } from '../plain-file.ts';
import { flushFolder } from '../prepare-folder.ts';
import { digestOfFile } from './description.ts';

const LARGE = 'large';
/**
 * In the table `meta` of a backup: the SHA-256 of a file of facets beside a large body. The body is covered
 * by the link of its entry.
 */
const DIGEST = 'file ';

interface CopyTask {
  readonly source: DataPaths;
  readonly target: DataPaths;
  readonly isForeign: boolean;
}

export class FileCopier {
  /** Bytes that were copied. */
  bytes = 0;
  readonly #source: DataPaths;
  readonly #target: DataPaths;
  readonly #isForeign: boolean;
  readonly #onFacets: (file: string, digest: string) => void;
  readonly #changed = new Set<string>();

  /**
   * `isForeign`: whether the source may come from somebody else, so that no link in it is followed.
   * `onFacets`: called with the digest of a file of facets before it takes its place.
   */
  constructor(
    { source, target, isForeign }: CopyTask,
    onFacets: (file: string, digest: string) => void = () => {},
  ) {
    this.#source = source;
    this.#target = target;
    this.#isForeign = isForeign;
    this.#onFacets = onFacets;
  }

  /**
   * Copies the files that a large body has in the source: those that the target lacks, or all. They take
   * their places flushed and complete.
   */
  async copy(name: string, all: boolean): Promise<void> {
    for (const file of filesOf(name)) {
      const from = this.#find(file);
      const to = finalPath(this.#target, file);
      if (from === undefined || (!all && isSameSize(from, to))) continue;
      const unfinished = join(this.#target.incoming, file);
      if (!(await copyIfExists(from, unfinished))) continue;
      {
        await using handle = await open(unfinished, 'r+');
        await handle.sync();
        this.bytes += (await handle.stat()).size;
      }
      if (file !== name) this.#onFacets(file, await digestOfFile(unfinished));
      await mkdir(dirname(to), { recursive: true });
      await rename(unfinished, to);
      this.#changed.add(dirname(to));
    }
  }

  /** To be called before what was copied counts. */
  flush(): void {
    for (const folder of [...this.#changed, this.#target.incoming, this.#target.large])
      flushFolder(folder);
    this.#changed.clear();
  }

  /** Undefined where there is none: not every body has all files, and some may be lost. */
  #find(file: string): string | undefined {
    const place = finalPath(this.#source, file);
    if (existsSync(place))
      return this.#isForeign
        ? plainFile(this.#source.folder, LARGE, basename(dirname(place)), file)
        : place;
    const uploaded = join(this.#source.incoming, file);
    return !this.#isForeign && existsSync(uploaded) ? uploaded : undefined;
  }
}

/** Returns whether there was a file: what is withheld meanwhile is removed. */
async function copyIfExists(from: string, to: string): Promise<boolean> {
  rmSync(to, { force: true });
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (existsSync(from)) throw error;
    return false;
  }
}

function isSameSize(from: string, to: string): boolean {
  const found = lstatSync(to, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === statSync(from, { throwIfNoEntry: false })?.size;
}

/**
 * The names of large bodies of the entries after this one. Leaves out any that would lead elsewhere: such
 * an entry cannot be read.
 */
export function* largeNames(db: DatabaseSync, after: Seq): Generator<string> {
  const next = db.prepare('SELECT seq, name FROM large WHERE seq > ? ORDER BY seq LIMIT 1');
  for (let row = next.get(after); row !== undefined; row = next.get(Number(row['seq'])))
    if (isLargeName(String(row['name']))) yield String(row['name']);
}

/** Throws where a folder of large files is anything else, such as a link that leads elsewhere. */
export function assertPlainFolders({ folder, large }: DataPaths): void {
  if (lstatSync(large, { throwIfNoEntry: false }) === undefined) return;
  for (const name of readdirSync(plainFolder(folder, LARGE))) plainFolder(folder, LARGE, name);
}

export function eraseFiles(paths: DataPaths, name: string): void {
  for (const file of filesOf(name)) rmSync(finalPath(paths, file), { force: true });
  const folder = dirname(finalPath(paths, name));
  if (existsSync(folder)) flushFolder(folder);
}

export function storeDigest(db: DatabaseSync, file: string, digest: string): void {
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(DIGEST + file, digest);
}

/** `name`: of one body; without it, of all. */
export function removeDigests(db: DatabaseSync, name = ''): void {
  db.exec(`DELETE FROM meta WHERE name GLOB '${DIGEST}${name}*'`);
}

export interface ChangedFile {
  readonly seq: Seq;
  /** Of the body. */
  readonly name: string;
}

/** The entries whose files of facets are not what was copied. */
export async function* changedFacets(
  db: DatabaseSync,
  paths: DataPaths,
): AsyncGenerator<ChangedFile> {
  const rows = db.prepare(`SELECT seq, large.name, meta.name AS file, value FROM meta
    JOIN large ON large.name = substr(meta.name, ${DIGEST.length + 1}, 36)
    WHERE meta.name GLOB '${DIGEST}*' ORDER BY seq`);
  for (const { seq, name, file, value } of rows.all()) {
    const path = finalPath(paths, String(file).slice(DIGEST.length));
    const found = existsSync(path) ? await digestOfFile(path) : undefined;
    if (found !== value) yield { seq: Number(seq), name: String(name) };
  }
}
