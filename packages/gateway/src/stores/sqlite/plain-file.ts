/**
 * Opens files in folders that may come from somebody else's hands, such as backups. No link is
 * followed, and nothing but a regular file is opened: a link or a name such as `..` would lead out of
 * the folder, and a FIFO would be waited for without end.
 *
 * Invariant: A backup, whoever made it, leads to nothing outside its folder.
 * Test: `test/backup/foreign-folder.test.ts` “cannot name what is outside of it”
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

import { StorageFault } from '../../storage-fault.ts';

// Where a system lacks a flag, it is undefined, which counts as no bits.
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const DATABASE_SUFFIXES = ['', '-journal', '-wal', '-shm'];

/** The path of a file below the root. Throws where it leaves the root or is not a regular file. */
export function plainFile(root: string, ...names: readonly string[]): string {
  const path = join(plainFolder(root, ...names.slice(0, -1)), assertName(names.at(-1)));
  if (!lstatSync(path).isFile()) throw notRegular(path);
  return path;
}

export function plainFolder(root: string, ...names: readonly string[]): string {
  let path = root;
  for (const name of names) {
    path = join(path, assertName(name));
    if (!lstatSync(path).isDirectory())
      throw new StorageFault(`${JSON.stringify(path)} is not a folder; links are not followed`);
  }
  return path;
}

/** The path of a database for SQLite, which need not exist. */
export function plainDatabase(root: string, ...names: readonly string[]): string {
  const path = join(plainFolder(root, ...names.slice(0, -1)), assertName(names.at(-1)));
  for (const suffix of DATABASE_SUFFIXES) {
    const file = path + suffix;
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) throw notRegular(file);
  }
  return path;
}

export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await open(path, FLAGS).catch((error: unknown) => throwOpenError(error, path));
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw notRegular(path);
}

export function openRegularSync(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, FLAGS);
  } catch (error) {
    return throwOpenError(error, path);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notRegular(path);
}

function assertName(name: unknown): string {
  if (typeof name === 'string' && /^[^/\\\0]+$/.test(name) && name !== '.' && name !== '..')
    return name;
  throw new StorageFault(`${JSON.stringify(name)} is not the name of a file in the folder`);
}

/** For a link, the system reports ELOOP: too many links. That would mislead. */
function throwOpenError(error: unknown, path: string): never {
  throw error instanceof Error && 'code' in error && error.code === 'ELOOP'
    ? notRegular(path)
    : error;
}

export function notRegular(path: string): StorageFault {
  return new StorageFault(`${JSON.stringify(path)} is not a regular file; links are not followed`);
}
