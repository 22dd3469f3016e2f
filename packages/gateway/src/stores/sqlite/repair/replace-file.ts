import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { flushFolder } from '../prepare-folder.ts';

/**
 * Writes a file that takes the place of another at once, if `isRight` when it is complete. It is
 * flushed before it has its name, and the folders after. Returns false if it was not right.
 */
export async function replaceFile(
  target: string,
  chunks: AsyncIterable<Uint8Array>,
  isRight: () => boolean,
): Promise<boolean> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const unfinished = `${target}.repair`;
  try {
    await using handle = await open(unfinished, 'w');
    for await (const chunk of chunks) await handle.writeFile(chunk);
    if (!isRight()) {
      await rm(unfinished, { force: true });
      return false;
    }
    await handle.sync();
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await rename(unfinished, target);
  for (const changed of [folder, dirname(folder)]) flushFolder(changed);
  return true;
}
