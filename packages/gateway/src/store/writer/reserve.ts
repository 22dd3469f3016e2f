/**
 * Room on the disk for what makes room: a file that is given up when entries are withheld, hidden or shown on a
 * full disk. Nothing is appended until it is there again.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';

import { assertStorageFault } from '../../storage-fault.ts';
import type { DataPaths } from '../data-paths.ts';
import { isDiskFull } from '../database.ts';

/** Bytes. To list 50,000 cases takes some three million; a step of erasing, less than one. */
const SIZE = 4 * 1024 * 1024;

export class Reserve {
  readonly #path: string;
  #isKept = false;

  constructor({ reserve }: DataPaths) {
    this.#path = reserve;
  }

  /** Makes the file if it is missing. Throws the system's error where there is no room for it. */
  keep(): void {
    if (this.#isKept) return;
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.size !== SIZE) {
        // Some file systems store no zeros.
        writeFileSync(this.#path, randomBytes(SIZE), { flush: true });
      }
    } catch (error) {
      rmSync(this.#path, { force: true });
      throw error;
    }
    this.#isKept = true;
  }

  /** Works once more, without the reserve, if the disk is full. */
  use<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      assertStorageFault(error);
      if (!isDiskFull(error) || !this.#isKept) throw error;
      this.#isKept = false;
      rmSync(this.#path, { force: true });
      return work();
    }
  }
}
