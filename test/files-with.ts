/** Files of folders that a gateway may be writing to. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const NO_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'EISDIR', 'ENXIO']);

/** The paths within the folder, at any depth, of the files that have these bytes. */
export async function filesWith(folder: string, wanted: string | Buffer): Promise<string[]> {
  const found: string[] = [];
  for await (const [name, bytes] of filesIn(folder)) if (bytes.includes(wanted)) found.push(name);
  return found;
}

/** All files of the folder, at any depth, but those that are removed meanwhile. */
export async function* filesIn(
  folder: string,
): AsyncGenerator<readonly [name: string, bytes: Buffer]> {
  for (const name of await readdir(folder, { recursive: true })) {
    try {
      yield [name, await readFile(join(folder, name))];
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && NO_FILE.has(error.code))) throw error;
    }
  }
}
