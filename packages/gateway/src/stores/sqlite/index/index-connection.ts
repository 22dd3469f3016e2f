/**
 * A thread's connection for reading the index. The index's thread replaces a spoiled index by a new
 * one, which is built from the log: the connection is then opened again. No statement may be held
 * from one turn of the event loop to the next.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { isStorageFault } from '../../../storage-fault.ts';
import { openForReading } from '../database.ts';
import type { DataPaths } from '../data-paths.ts';
import type { SharedState } from '../shared-state.ts';

/** Reads rows by a statement that is prepared once. */
export interface IndexSource {
  /** What `read` returns, or undefined if the index cannot be read, or `read` finds it changed. */
  read<T>(sql: string, read: (statement: StatementSync) => T | undefined): T | undefined;
}

/** SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_CANTOPEN (as with too many open files). */
const TRANSIENT: ReadonlySet<number> = new Set([5, 6, 7, 14]);

function isTransient(error: Error): boolean {
  return 'errcode' in error && TRANSIENT.has(Number(error.errcode) & 0xff);
}

export class IndexConnection implements IndexSource {
  readonly #paths: DataPaths;
  readonly #shared: SharedState;
  readonly #cacheKiB: number | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync | undefined;
  #generation = -1;

  constructor(paths: DataPaths, shared: SharedState, cacheKiB?: number) {
    this.#paths = paths;
    this.#shared = shared;
    this.#cacheKiB = cacheKiB;
  }

  /** Differs once the index was replaced. */
  get generation(): number {
    return this.#shared.indexGeneration;
  }

  /** Where it returns undefined, the index is made again, and the log has to be read in its place. */
  read<T>(sql: string, read: (statement: StatementSync) => T | undefined): T | undefined {
    if (this.#shared.indexSpoiled) return undefined;
    const { generation } = this;
    try {
      const result = read(this.#statement(sql, generation));
      if (result !== undefined) return result;
    } catch (error) {
      if (!isStorageFault(error) || isTransient(error)) throw error;
    }
    if (generation === this.generation) this.#shared.indexSpoiled = true;
    return undefined;
  }

  close(): void {
    this.#statements.clear();
    this.#db?.close();
    this.#db = undefined;
  }

  #statement(sql: string, generation: number): StatementSync {
    if (this.#generation !== generation) this.close();
    this.#generation = generation;
    this.#db ??= openForReading(this.#paths.index, this.#cacheKiB);
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
