/**
 * The entries that are known to be unreadable, in the thread of the segments. Every reader is told of
 * them, so that none tries them again, and each is reported once. Entries in files are looked at
 * again when their file has changed.
 *
 * Held in memory: after a start, readers find them again.
 *
 * Invariant: A damaged entry costs nobody another entry.
 * Test: `test/crash/unreadable.test.ts` “is marked through every door, and readable again once its
 *   file is back” “costs the entries in it, at start and while running”
 * Test: `packages/gateway/src/stores/sqlite/log/row-reader.test.ts` “costs its entry at most,
 *   whichever bit it is, in whatever way others are read”
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { RowReader } from '../log/row-reader.ts';
import { finalPath } from '../large/large-files.ts';
import { linkFault } from '../log/chain-verifier.ts';
import type { StoreThread } from '../store-thread.ts';
import type { DamageNotice, EntryDamage } from './damage-client.ts';

const MAX_CHECKED = 256;

const NOT_LOOKED_AT = 'not looked at';

export class DamageRegistry {
  readonly #thread: StoreThread;
  readonly #paths: DataPaths;
  readonly #log: RowReader;
  /** The state of the file of each, which differs once it was put back. */
  readonly #entries = new Map<Seq, string>();
  #added = Promise.withResolvers<void>();

  constructor(thread: StoreThread, log: DatabaseSync) {
    this.#thread = thread;
    this.#paths = thread.paths;
    this.#log = new RowReader(log);
  }

  addClient(client: MessagePort): void {
    const known: DamageNotice = { unreadable: [...this.#entries.keys()], readable: [] };
    client.postMessage(known);
  }

  /** Resolves once there is an entry that cannot be read. */
  async any(): Promise<void> {
    if (this.#entries.size === 0) this.#added = Promise.withResolvers();
    else this.#added.resolve();
    await this.#added.promise;
  }

  /** Whether an entry of the span, both ends included, is known to be unreadable. */
  hasBetween(from: Seq, to: Seq): boolean {
    return this.#entries.size > 0 && this.#entries.keys().some((seq) => seq >= from && seq <= to);
  }

  add({ seq, cause }: EntryDamage): void {
    if (this.#entries.has(seq)) return;
    this.#added.resolve();
    this.#entries.set(seq, NOT_LOOKED_AT);
    this.#notify({ unreadable: [seq], readable: [] });
    this.#thread.send({ part: 'entry', seq, cause });
  }

  /** Verifies an entry, which is known to be unreadable then, or is not. */
  async check(seq: Seq, signal: AbortSignal): Promise<void> {
    const fault = await linkFault(this.#log, this.#paths, seq, { signal });
    if (fault !== undefined) {
      this.add({ seq, cause: { code: 'VERIFY', message: `Entry ${seq} ${fault}.` } });
    } else if (this.#entries.delete(seq)) {
      this.#notify({ unreadable: [], readable: [seq] });
      this.#thread.send({ part: 'entry', seq, cause: undefined });
    }
  }

  async checkBetween(from: Seq, to: Seq, signal: AbortSignal): Promise<void> {
    for (const seq of this.#entries.keys())
      if (seq >= from && seq <= to) await this.check(seq, signal);
  }

  /** Looks at the files that have waited longest. Returns the entries that are still unreadable. */
  async recheck(signal: AbortSignal): Promise<readonly Seq[]> {
    const checked = [...this.#entries].slice(0, MAX_CHECKED);
    for (const [seq, before] of checked) {
      const state = this.#fileState(seq);
      // To the end, so that the next round continues after it.
      this.#entries.delete(seq);
      this.#entries.set(seq, state);
      if (state !== before) await this.check(seq, signal);
    }
    return checked.map(([seq]) => seq).filter((seq) => this.#entries.has(seq));
  }

  #notify(notice: DamageNotice): void {
    this.#thread.shared.damageVersion += 1;
    for (const client of this.#thread.clients) client.postMessage(notice);
  }

  #fileState(seq: Seq): string {
    try {
      const file = this.#log.entry(seq)?.large;
      if (file === undefined) return '';
      for (const path of [finalPath(this.#paths, file), join(this.#paths.incoming, file)]) {
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat) return `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
      }
      return 'missing';
    } catch (error) {
      return String(error);
    }
  }
}
