/**
 * Verifies the whole log again and again in the background, with `verifyEntries` as `presence verify` does:
 * whatever changes on the disk is found although nobody reads it. A pass that a stop interrupts goes on
 * after the next start. The idempotency keys are made again where one is missing.
 *
 * Invariant: An entry whose bytes have changed on the disk is not given as what was stored, and is
 *   found though nobody reads it.
 * Test: `packages/gateway/src/stores/sqlite/damage/scrubber.test.ts` “is unreadable when it is
 *   asked for, and is found where nobody asks” “is found though nobody reads it”
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isStorageFault } from '../../../storage-fault.ts';
import { type DataPaths, dataPathsIn } from '../data-paths.ts';
import { isSpoiled, openForReading, readable } from '../database.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { RowReader } from '../log/row-reader.ts';
import { makeFolder } from '../prepare-folder.ts';
import { unfoundKeys } from '../repair/verify-keys.ts';
import { verifyEntries } from '../repair/verify.ts';
import { readChecked, writeChecked } from '../segment-record.ts';
import type { SharedState } from '../shared-state.ts';
import type { StoreThread } from '../store-thread.ts';
import { keysUntil } from '../writer/keys.ts';
import type { DamageRegistry } from './damage-registry.ts';

/** How long one step may verify entries, about. */
const STEP_MS = 5;

export class Scrubber {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #registry: DamageRegistry;
  readonly #db: DatabaseSync;
  readonly #log: RowReader;
  #verifier: ChainVerifier;
  /** The last entry that was verified; 0 at the start of a pass. */
  at: Seq;

  /** Goes on after the entry `at`. */
  constructor({ paths, shared }: StoreThread, registry: DamageRegistry, at: Seq) {
    this.#paths = paths;
    this.#shared = shared;
    this.#registry = registry;
    // A small cache: the log is read from the disk, once a pass.
    this.#db = openForReading(paths.log, 256);
    this.#log = new RowReader(this.#db);
    this.at = at;
    const link = readable(() => this.#log.linkOf(at));
    this.#verifier = new ChainVerifier(paths, link && { seq: at, link });
    // Without the link before it, the next entry is the first whose link tells.
    if (link === undefined && at > 0) this.#verifier.skip(at);
  }

  /** Verifies some entries. Returns whether it has reached the newest; the next call then starts at the first. */
  async step(signal: AbortSignal): Promise<boolean> {
    const started = performance.now();
    const { head } = this.#shared;
    const [paths, verifier, from] = [this.#paths, this.#verifier, this.at];
    if (head <= from) return this.#isPassed(head);
    for await (const event of verifyEntries(this.#log, { paths, verifier, head, signal })) {
      if (event.type === 'fault') {
        // One fault tells of all entries that are missing before a row.
        for (let seq = event.seq ?? verifier.next; seq < verifier.next; seq += 1)
          await this.#registry.check(seq, signal);
        continue;
      }
      await this.#registry.checkBetween(this.at + 1, event.at, signal);
      this.at = event.at;
      if (performance.now() - started > STEP_MS) break;
    }
    this.#checkKeys(from, this.at);
    return this.#isPassed(head);
  }

  close(): void {
    this.#db.close();
  }

  #isPassed(head: Seq): boolean {
    if (this.at < head || this.at === 0) return false;
    this.at = 0;
    this.#verifier = new ChainVerifier(this.#paths);
    return true;
  }

  /** Has the keys made again where entries after `from` are not found by theirs. */
  #checkKeys(from: Seq, to: Seq): void {
    if (!existsSync(this.#paths.keys)) return;
    try {
      using keys = openForReading(this.#paths.keys, 256);
      const last = Math.min(to, keysUntil(keys, this.#log));
      const faults = unfoundKeys(this.#db, keys, { from: from + 1, to: last });
      if (faults.length > 0) this.#shared.keysSpoiled = true;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      this.#shared.keysSpoiled = true;
    }
  }
}

export interface ScrubProgress {
  /** The last entry of this pass that was verified; 0 at its start. */
  readonly at: Seq;
  /** When the last whole pass ended, in ms since 1970; 0 if there was none. */
  readonly completed: number;
}

/** Undefined if it is unknown: before the first start, or if the file is lost. */
export function scrubProgress(folder: string): ScrubProgress | undefined {
  try {
    return readChecked(progressFile(folder)) as ScrubProgress | undefined;
  } catch (error) {
    if (isStorageFault(error)) return undefined;
    throw error;
  }
}

export function storeScrubProgress({ folder, segments }: DataPaths, progress: ScrubProgress): void {
  makeFolder(segments);
  writeChecked(progressFile(folder), progress);
}

function progressFile(folder: string): string {
  return join(dataPathsIn(folder).segments, 'verified.json');
}
