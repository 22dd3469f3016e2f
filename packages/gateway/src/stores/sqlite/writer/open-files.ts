/**
 * Remembers which files of the data folder the writer has open, to notice when the folder has others
 * or none, because it or they were moved or removed. What is written then is lost with the process.
 *
 * Invariant: Nothing is acknowledged that is not in the data folder, wherever it is moved.
 * Test: `test/crash/moved.test.ts` “a data folder moved under load has all that was acknowledged;
 *   moved back, it is stored in again” “each file of the log that is moved away stops storing until
 *   it is back”
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { platform } from 'node:os';

import { StorageFault } from '../../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { finalPath } from '../large/large-files.ts';

export class OpenFiles {
  readonly #paths: DataPaths;
  readonly #wal: string;
  readonly #identities = new Map<string, string>();
  /** Open, so that the system gives its inode number to no other folder. */
  readonly #large: number | undefined;

  /** Call when the database and its WAL are open. */
  constructor(paths: DataPaths) {
    this.#paths = paths;
    this.#wal = `${paths.log}-wal`;
    for (const path of [paths.log, this.#wal, `${paths.log}-shm`, paths.lock, paths.large]) {
      const identity = identityOf(path);
      if (identity === undefined) throw missing(path);
      this.#identities.set(path, identity);
    }
    if (platform() !== 'win32') this.#large = openSync(paths.large, 'r');
  }

  /** Throws unless the folder has what the commit wrote. `larges`: names of its large bodies. */
  assertStored(larges: Iterable<string>): void {
    this.#assertSame(this.#paths.log);
    this.#assertSame(this.#wal);
    for (const name of larges) {
      const path = finalPath(this.#paths, name);
      if (!existsSync(path)) throw missing(path);
    }
  }

  /** Throws unless all of the files are in the folder. */
  assertAll(): void {
    for (const path of this.#identities.keys()) this.#assertSame(path);
    if (!existsSync(this.#paths.incoming)) throw missing(this.#paths.incoming);
  }

  /** Whether only the WAL was moved or removed, so that the database lacks its content. */
  hasLostWal(): boolean {
    const { log } = this.#paths;
    const isSame = (path: string): boolean => identityOf(path) === this.#identities.get(path);
    return isSame(log) && !isSame(this.#wal);
  }

  close(): void {
    if (this.#large !== undefined) closeSync(this.#large);
  }

  #assertSame(path: string): void {
    if (identityOf(path) !== this.#identities.get(path)) throw missing(path);
  }
}

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

function missing(path: string): StorageFault {
  return new StorageFault(`"${path}" was moved or removed. Nothing is stored until it is back.`);
}
