/**
 * Verifies the whole log again and again in the background, and what is derived from it: whatever
 * changes on the disk is found although nobody reads it.
 *
 * Takes about a fiftieth of its thread's time. A pass that a stop interrupts goes on behind it. The
 * idempotency keys are made again where one is missing.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, openForReading, readMetaSeq } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { RowReader } from '../log/row-reader.ts';
import type { EntryRow } from '../log/entry-row.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { EntryVerifier } from '../log/entry-verifier.ts';
import { unfoundKeys } from '../repair/verify-keys.ts';
import type { SharedState } from '../shared-state.ts';
import type { StoreThread } from '../store-thread.ts';
import type { DamageRegistry } from './damage-registry.ts';

/** How long one step may verify small entries; on a busy machine, longer until it has come this far. */
const STEP_MS = 5;
const BUSY_STEP_MS = 200;
const MIN_STEP_ENTRIES = 64;

export class Scrubber {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #registry: DamageRegistry;
  readonly #log: DatabaseSync;
  readonly #blocks: RowReader;
  readonly #single: EntryVerifier;
  #keys: DatabaseSync | undefined;
  #keysInode: number | undefined;
  #verifier: ChainVerifier | undefined;
  /** The last entry that was verified. */
  #at: Seq;

  /** Goes on behind the entry `at`. */
  constructor(thread: StoreThread, registry: DamageRegistry, at: Seq) {
    const { paths, shared } = thread;
    this.#paths = paths;
    this.#shared = shared;
    this.#registry = registry;
    // A small cache: the log is read from the disk, once a pass.
    this.#log = openForReading(paths.log, 256);
    this.#blocks = new RowReader(this.#log);
    this.#single = new EntryVerifier(this.#blocks, paths);
    this.#at = at;
  }

  /** The last entry that was verified; 0 at the start of a pass. */
  get at(): Seq {
    return this.#at;
  }

  /** Verifies some entries. Returns whether it has come to the newest: the next is the first then. */
  async step(signal: AbortSignal): Promise<boolean> {
    const started = performance.now();
    const from = this.#at;
    while (this.#at < this.#shared.head) {
      const isShort = this.#at - from < MIN_STEP_ENTRIES;
      if (performance.now() - started > (isShort ? BUSY_STEP_MS : STEP_MS)) break;
      await this.#verify(this.#at + 1, signal);
      this.#at += 1;
    }
    this.#checkKeys(from, this.#at);
    if (this.#at < this.#shared.head || this.#at === 0) return false;
    this.#at = 0;
    this.#verifier = undefined;
    return true;
  }

  close(): void {
    this.#log.close();
    this.#keys?.close();
  }

  /** Has the keys made again where entries after `from` are not found by theirs. */
  #checkKeys(from: Seq, to: Seq): void {
    if (to <= from) return;
    try {
      const keys = this.#openKeys();
      const last = keys && Math.min(to, readMetaSeq(keys, 'until'));
      if (keys === undefined || last === undefined || last <= from) return;
      const faults = unfoundKeys(this.#log, keys, { from: from + 1, to: last });
      if (faults.length > 0) this.#shared.keysSpoiled = true;
    } catch (error) {
      if (!isSpoiled(error)) throw error;
      this.#shared.keysSpoiled = true;
    }
  }

  /** The file may have been made again since. */
  #openKeys(): DatabaseSync | undefined {
    const { keys } = this.#paths;
    const inode = statSync(keys, { throwIfNoEntry: false })?.ino;
    if (inode !== this.#keysInode) {
      this.#keys?.close();
      this.#keys = inode === undefined ? undefined : openForReading(keys, 256);
      this.#keysInode = inode;
    }
    return this.#keys;
  }

  async #verify(seq: Seq, signal: AbortSignal): Promise<void> {
    if (await this.#holdsInChain(seq, signal)) {
      this.#registry.remove(seq);
      return;
    }
    this.#verifier = undefined;
    const fault = await this.#single.fault(seq, { signal });
    if (fault === undefined) this.#registry.remove(seq);
    else this.#registry.add({ seq, cause: { code: 'VERIFY', message: `Entry ${seq} ${fault}.` } });
  }

  /** Whether an entry is linked to the one that was verified before it. */
  async #holdsInChain(seq: Seq, signal: AbortSignal): Promise<boolean> {
    if (this.#verifier === undefined && seq > 1) {
      this.#verifier = this.#verifierBehind(seq - 1);
      if (this.#verifier === undefined) return false;
    }
    this.#verifier ??= new ChainVerifier(this.#paths);
    const row = this.#rowAt(seq);
    return row !== undefined && (await this.#verifier.verify(row, signal)).length === 0;
  }

  #verifierBehind(seq: Seq): ChainVerifier | undefined {
    const link = this.#rowAt(seq)?.link;
    return link && new ChainVerifier(this.#paths, { seq, link });
  }

  #rowAt(seq: Seq): EntryRow | undefined {
    try {
      return this.#blocks.entry(seq);
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }
}
