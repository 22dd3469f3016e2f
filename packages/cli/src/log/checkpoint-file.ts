/** The checkpoint of a log that was verified last, kept in a file. */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Checkpoint } from '@open-presence/client';
import { makeFolder } from '@open-presence/gateway/prepare-folder';

/** `folder`: of the user's state (XDG Base Directory Specification). One file for each address. */
export function checkpointFileFor(folder: string, address: string): string {
  const { host, href } = new URL(address);
  const name = createHash('sha256').update(href.replace(/\/+$/, '')).digest('hex').slice(0, 12);
  return join(
    folder,
    'open-presence',
    'checkpoints',
    `${host.replace(/[^\w.-]/g, '_')}-${name}.json`,
  );
}

export class CheckpointFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined where there is no file yet. Throws for one that has something else. */
  async read(): Promise<Checkpoint | undefined> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    const found = checkpointIn(text);
    if (found === undefined)
      throw new Error(`"${this.#path}" has no checkpoint. Remove it to begin anew.`);
    return found;
  }

  async write({ log, head, link }: Checkpoint): Promise<void> {
    makeFolder(dirname(this.#path));
    const next = `${this.#path}.next`;
    await writeFile(next, `${JSON.stringify({ log, head, link })}\n`);
    await rename(next, this.#path);
  }
}

function checkpointIn(text: string): Checkpoint | undefined {
  const found = /^\s*\{"log":"([^"\\]+)","head":(\d{1,16}),"link":"([\da-f]{64})"\}\s*$/.exec(text);
  const [, log, head, link] = found ?? [];
  if (log === undefined || link === undefined) return undefined;
  return { log, head: Number(head), link };
}
