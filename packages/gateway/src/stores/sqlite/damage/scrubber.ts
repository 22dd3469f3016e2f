/**
 * Verifies the whole log again and again in the background, and what is derived from it: whatever
 * changes on the disk is found although nobody reads it.
 *
 * Takes about a fiftieth of its thread's time. A pass over the entries begins at a random one, so that
 * passes that a stop interrupts do not all verify the same ones.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import { isSpoiled, openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import { ChainVerifier } from '../log/chain-verifier.ts';
import { EntryVerifier } from '../log/entry-verifier.ts';
import { ENTRY_COLUMNS } from '../log/log-database.ts';
import type { SharedState } from '../shared-state.ts';
import type { DamageRegistry } from './damage-registry.ts';

/** How long one step may verify small entries. */
const STEP_MS = 5;

export class Scrubber {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #registry: DamageRegistry;
  readonly #log: DatabaseSync;
  readonly #next: StatementSync;
  readonly #single: EntryVerifier;
  #verifier: ChainVerifier | undefined;
  /** The last entry that was verified. */
  #at: Seq;

  constructor(paths: DataPaths, shared: SharedState, registry: DamageRegistry) {
    this.#paths = paths;
    this.#shared = shared;
    this.#registry = registry;
    // A small cache: the log is read from the disk, once a pass.
    this.#log = openForReading(paths.log, 256);
    this.#next = this.#log.prepare(
      `SELECT ${ENTRY_COLUMNS} FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 1`,
    );
    this.#next.setReadBigInts(true);
    this.#single = new EntryVerifier(this.#log, paths);
    this.#at = Math.floor(Math.random() * shared.head);
  }

  /** Verifies some entries; after the newest, it goes on with the first. */
  async step(signal: AbortSignal): Promise<void> {
    const started = performance.now();
    while (performance.now() - started < STEP_MS && this.#shared.head > 0) {
      const seq = this.#at + 1;
      if (seq > this.#shared.head) {
        this.#at = 0;
        this.#verifier = undefined;
        return;
      }
      await this.#verify(seq, signal);
      this.#at = seq;
    }
  }

  close(): void {
    this.#log.close();
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
    const link = this.#rowAt(seq)?.['link'];
    return link instanceof Uint8Array ? new ChainVerifier(this.#paths, { seq, link }) : undefined;
  }

  #rowAt(seq: Seq): Record<string, unknown> | undefined {
    try {
      return this.#next.get(seq - 1, seq);
    } catch (error) {
      if (isSpoiled(error)) return undefined;
      throw error;
    }
  }
}
