/** Small files with a checksum, and errors of missing files. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

import { assertStorageFault } from '../../storage-fault.ts';
import { flushFolder } from './prepare-folder.ts';

/** Reads what `writeChecked` wrote. Undefined if there is nothing, or something else. */
export function readChecked(file: string): unknown {
  try {
    const [sum = '', json = ''] = readFileSync(file, 'utf8').split('\n');
    return sum === sumOf(json) ? JSON.parse(json) : undefined;
  } catch (error) {
    assertStorageFault(error);
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes a value with a checksum. Flushed before it returns. */
export function writeChecked(file: string, value: object): void {
  const json = JSON.stringify(value);
  const temporary = `${file}.new`;
  // Whatever is there is not followed if it is a link.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${sumOf(json)}\n${json}\n`, { flag: 'wx', flush: true });
  renameSync(temporary, file);
  flushFolder(dirname(file));
}

/** The CRC-32 of a text. */
export function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  );
}
