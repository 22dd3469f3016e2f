/** Verifies single entries by their link, wherever they are in the log. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { Seq } from '../../../log/log.ts';
import type { DataPaths } from '../data-paths.ts';
import { isSpoiled } from '../database.ts';
import { ChainVerifier, type StoredBody } from './chain-verifier.ts';
import { ENTRY_COLUMNS, FIRST_LINK } from './log-database.ts';

interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly body?: StoredBody | undefined;
}

export class EntryVerifier {
  readonly #paths: DataPaths;
  readonly #row: StatementSync;
  readonly #link: StatementSync;

  constructor(log: DatabaseSync, paths: DataPaths) {
    this.#paths = paths;
    this.#row = log.prepare(`SELECT ${ENTRY_COLUMNS} FROM entries WHERE seq = ?`);
    this.#row.setReadBigInts(true);
    this.#link = log.prepare('SELECT link FROM entries WHERE seq = ?');
  }

  /** What is wrong with an entry, or undefined. `body`: if it was read already. */
  async fault(seq: Seq, { signal, body }: VerifyOptions = {}): Promise<string | undefined> {
    const fault = await this.#faultAfter(seq - 1, seq, { signal, body });
    if (fault === undefined || seq < 2) return fault;
    // It may be the link before that has changed: derive it from the entry before.
    return await this.#faultAfter(seq - 2, seq, { signal, body });
  }

  /** Verifies the entries behind `previous` up to `seq`, and returns what is wrong with the last. */
  async #faultAfter(
    previous: Seq,
    seq: Seq,
    { signal, body }: VerifyOptions,
  ): Promise<string | undefined> {
    try {
      const link = previous < 1 ? FIRST_LINK : this.#link.get(previous)?.['link'];
      if (!(link instanceof Uint8Array)) return `cannot be verified without entry ${previous}`;
      const verifier = new ChainVerifier(this.#paths, { seq: previous, link });
      for (let at = previous + 1; at < seq; at += 1) {
        const row = this.#row.get(at);
        if (row !== undefined) await verifier.verify(row, signal);
      }
      const row = this.#row.get(seq);
      if (row === undefined) return 'is missing';
      const faults = await verifier.verify(row, signal, body);
      return faults.at(-1)?.description;
    } catch (error) {
      if (isSpoiled(error)) return `cannot be read (${String(error)})`;
      throw error;
    }
  }
}
