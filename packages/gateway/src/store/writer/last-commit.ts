/**
 * The file `last-commit`: seq and link of the newest entry, written after each commit. It is not flushed, so it may
 * be older than the log, but it is never ahead of it. A start whose log ends before that entry, or has another one
 * there, refuses: somebody removed or changed `log.sqlite-wal`, or removed or replaced `log.sqlite`.
 *
 * Invariant: A log that has lost entries, or is another one, is not served before the operator has
 *   been asked.
 * Test: `test/crash/lost-history.test.ts` “… is refused, changes nothing, and goes on once the loss
 *   is accepted”
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';

import type { Seq } from '../../log/log.ts';
import { assertStorageFault } from '../../storage-fault.ts';
import { sumOf } from '../checked-file.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import { openLogIfExists } from '../log/log-database.ts';
import { RowReader } from '../log/row-reader.ts';

// Format 1 of the log has its name first.
const LINE = /^((?:[\da-f]{16} )?(\d{16}) ([\da-f]{64})) ([\da-f]{8})\n/;

export class LastCommit implements Disposable {
  readonly #path: string;
  #handle: number | undefined;

  constructor({ lastCommit }: DataPaths) {
    this.#path = lastCommit;
  }

  write(seq: Seq, link: Uint8Array): void {
    // Each line has the same length, and overwrites the one before.
    const line = `${String(seq).padStart(16, '0')} ${Buffer.from(link).toString('hex')}`;
    try {
      this.#handle ??= openSync(this.#path, constants.O_WRONLY | constants.O_CREAT);
      writeSync(this.#handle, `${line} ${sumOf(line)}\n`, 0);
    } catch (error) {
      // The commit is durable without it.
      assertStorageFault(error);
    }
  }

  [Symbol.dispose](): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
  }
}

/** What the log has lost, for a sentence that begins with “The log”; undefined if it has lost nothing that is known. */
export function lossIn(paths: DataPaths): string | undefined {
  // Before the log: a running gateway may commit in between.
  const [, line = '', digits, link, sum] = LINE.exec(read(paths.lastCommit)) ?? [];
  const seq = Number(digits);
  if (sum !== sumOf(line) || seq === 0) return undefined;
  using db = openLogIfExists(paths);
  if (db === undefined) return `is not there, but last-commit knows of its entry ${seq}`;
  const log = new RowReader(db);
  const last = log.lastSeq();
  if (last < seq) return `ends with entry ${last}, but last-commit knows of entry ${seq}`;
  try {
    if (log.linkAt(seq) === link) return undefined;
  } catch (error) {
    // An entry that cannot be read is no other one.
    if (isSpoiled(error)) return undefined;
    throw error;
  }
  return `has another entry ${seq} than the one that last-commit knows of`;
}

/** Throws if the log has lost entries. Changes nothing. */
export function refuseLoss(paths: DataPaths): undefined {
  const loss = lossIn(paths);
  if (loss !== undefined)
    throw new Error(
      `The log in "${paths.folder}" ${loss}. Probably log.sqlite-wal was removed, cut or changed, or log.sqlite was removed or replaced. Nothing has been changed. Either put back what is missing: log.sqlite together with its log.sqlite-wal, or everything from the newest backup into an empty folder. Or go on without the lost entries: run once: presence accept loss --data "${paths.folder}"
The log gets a new name then, since other entries will have their numbers.`,
    );
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    assertStorageFault(error);
    return '';
  }
}
