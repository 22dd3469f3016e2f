import { readdirSync } from 'node:fs';

import { plainFile, plainFolder } from '../plain-file.ts';
import { type BackupPaths, SEGMENTS } from './backup-folder.ts';
import type { Segment } from './manifest.ts';

const LARGE = 'large';

/**
 * The files of large bodies in a segment. Throws where anything in the segment is no regular file, or
 * no folder where there has to be one: call it before any of them is opened.
 */
export function segmentFiles(paths: BackupPaths, { name }: Pick<Segment, 'name'>): string[] {
  const files: string[] = [];
  const names = readdirSync(plainFolder(paths.folder, SEGMENTS, name));
  for (const file of names) if (file !== LARGE) plainFile(paths.folder, SEGMENTS, name, file);
  if (!names.includes(LARGE)) return files;
  for (const part of readdirSync(plainFolder(paths.folder, SEGMENTS, name, LARGE))) {
    const folder = plainFolder(paths.folder, SEGMENTS, name, LARGE, part);
    for (const file of readdirSync(folder)) files.push(plainFile(folder, file));
  }
  return files;
}
