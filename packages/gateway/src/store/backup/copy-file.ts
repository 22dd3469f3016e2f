import { constants, lstatSync, rmSync } from 'node:fs';
import { copyFile, open, rename } from 'node:fs/promises';

import { StorageFault } from '../../storage-fault.ts';

/** Copies a file and flushes it before it has its name. Returns its size. */
export async function copyFlushed(from: string, to: string): Promise<number> {
  assertPlain(from, 'file');
  const unfinished = `${to}.part`;
  // Whatever is there is not followed if it is a link.
  rmSync(unfinished, { force: true });
  await copyFile(from, unfinished, constants.COPYFILE_FICLONE);
  await flushFile(unfinished);
  await rename(unfinished, to);
  return lstatSync(to).size;
}

export async function flushFile(path: string): Promise<void> {
  await using handle = await open(path, 'r+');
  await handle.sync();
}

/** A backup may come from somebody else: its links may lead anywhere, and a FIFO never ends. */
export function assertPlain(path: string, type: 'file' | 'folder'): void {
  const found = lstatSync(path);
  if (type === 'file' ? found.isFile() : found.isDirectory()) return;
  throw new StorageFault(`${JSON.stringify(path)} is no regular ${type}; links are not followed`);
}
