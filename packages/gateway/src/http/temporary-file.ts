import { randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Has no name any more, so that it is gone however the process ends. */
export async function openTemporaryFile(folder: string): Promise<FileHandle> {
  const path = join(folder, `presence-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    return file;
  } catch (error) {
    // Node ends the process where it collects one that is open.
    await file.close();
    throw error;
  }
}
